import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { query } from '../postgres/service.ts';
import { until } from '../postgres/serviceWait.ts';
import { withoutAddresses } from './addresses.ts';
import { exemplarsOf, linesOf, rowOf, servicesWithLines, spansOf, storedExemplars } from './answers.ts';
import { shippedSettings } from './postgres.ts';
import { readUsed, type Stack, startStack } from './stack.ts';

/** As many as the simulated users make in half a minute. */
const REQUESTS = 120;
const RANDOM = 50;
/** Every part that writes a line about a request. */
const SERVICES = ['backend', 'ingest', 'nginx', 'postgres'];
/** The collector gathers for a second, and looks at files as often. */
const SHIPPED_WITHIN_MS = 60_000;

let stack: Stack;
/** Requests that the row says all three halves of. */
let traceIds: string[];

beforeAll(async () => {
  stack = await startStack(inject('programs'));
  traceIds = await until(
    `${REQUESTS} settled requests with all halves`,
    async () => {
      const rows = await query<{ trace_id: string }>(
        stack.databaseUrl,
        `SELECT replace(trace_id::text, '-', '') AS trace_id FROM requests WHERE settled AND server_source IS NOT NULL AND seq IS NOT NULL AND gateway_status IS NOT NULL
         ORDER BY random()`,
      );
      return rows.length >= REQUESTS && rows.map(({ trace_id }) => trace_id);
    },
    150_000,
  );
  await stack.stopTraffic();
});
afterAll(() => stack?.stop());

test('configurations differ from what compose starts in nothing but addresses', async () => {
  expect(stack.files.map(({ shipped }) => path.basename(shipped)).sort()).toEqual([
    'collector.yaml',
    'firsttoken-stream.conf',
    'firsttoken.conf',
    'nginx.conf',
  ]);
  for (const file of stack.files) {
    const { shipped, used } = await readUsed(file);
    expect(withoutAddresses(used, file.replacements)).toBe(shipped);
  }
});

test('environments differ from what compose gives in nothing but addresses and folders', () => {
  const named = Object.entries(stack.environments).map(([service, differences]) => [service, Object.keys(differences)]);
  expect(Object.fromEntries(named)).toEqual({
    collector: [],
    ingest: [
      'HOST',
      'PORT',
      'ADMIN_HOST',
      'ADMIN_PORT',
      'DATABASE_URL',
      'DATA_DIR',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'LOG_FILE',
    ],
    backend: ['HOST', 'PORT', 'INGEST_URL', 'DATABASE_URL', 'LOG_FILE'],
    traffic: ['GATEWAY_URL'],
  });
});

test('PostgreSQL has the settings of compose, but for the folder of its log', async () => {
  const rows = await query<{ name: string; setting: string; unit: string | null }>(
    stack.databaseUrl,
    'SELECT name, current_setting(name) AS setting FROM pg_settings',
  );
  const found = new Map(rows.map(({ name, setting }) => [name, setting]));
  for (const [name, value] of Object.entries(shippedSettings())) {
    if (name === 'log_directory') expect(found.get(name)).toBe(path.join(stack.folder, 'postgres-logs'));
    else expect(plain(found.get(name)!), name).toBe(value);
  }
});

test('Prometheus scrapes the ingest, evaluates the rules and knows the Alertmanager', async () => {
  const ask = async (what: string) => (await (await fetch(`${stack.prometheusUrl}/api/v1/${what}`)).json()).data;
  expect((await ask('status/buildinfo')).version).toMatch(/^3\./);
  const { activeTargets } = await ask('targets');
  expect(activeTargets.map(({ health }: { health: string }) => health)).toEqual(['up']);
  const { groups } = await ask('rules');
  const rules = (groups as { rules: { health: string }[] }[]).flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(0);
  const evaluated = async (): Promise<boolean> => {
    const now = (await ask('rules')).groups as { rules: { health: string }[] }[];
    return now.flatMap((group) => group.rules).every(({ health }) => health === 'ok');
  };
  await until('all rules to have been evaluated well', evaluated, 60_000);
  const { activeAlertmanagers } = await ask('alertmanagers');
  expect(activeAlertmanagers.map(({ url }: { url: string }) => new URL(url).origin)).toEqual([stack.alertmanagerUrl]);
});

test(`${RANDOM} random requests: the trace id finds the spans and the lines of every part`, async () => {
  const chosen = traceIds.slice(0, RANDOM);
  expect(new Set(chosen).size).toBe(RANDOM);
  for (const traceId of chosen) {
    await until(
      `the lines of all parts about ${traceId}`,
      async () => (await servicesWithLines(stack, traceId)).join() === SERVICES.join(),
      SHIPPED_WITHIN_MS,
    );
    const spans = await until(
      `the spans of ${traceId}`,
      async () => {
        const found = await spansOf(stack, traceId);
        return found.length > 0 && found;
      },
      SHIPPED_WITHIN_MS,
    );
    const { stages_ns } = (await rowOf(stack, traceId))!;
    const stages = Object.entries(stages_ns).filter(([, ns]) => ns !== null);
    expect(spans.map(({ operationName }) => operationName)).toEqual(
      expect.arrayContaining(stages.map(([stage]) => stage)),
    );
    const ids = new Set(spans.map(({ spanID }) => spanID));
    const roots = spans.filter(({ references }) => !references.some(({ spanID }) => ids.has(spanID)));
    expect(roots.length).toBe(1);
    expect(spans.length).toBe(stages.length + 1);
    expect(spans.every(({ traceID, duration }) => traceID === traceId && duration >= 0)).toBe(true);
  }
});

test.each(SERVICES)('random lines of %s lead to their rows', async (service) => {
  const lines = await linesOf(stack, `{service.name="${service}"} trace_id:* | sample 2 | limit 20`);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const traceId = line['trace_id']!;
    // A line can come before the halves of its request have.
    await until(`the row of ${traceId}`, async () => (await rowOf(stack, traceId))?.trace_id === traceId);
  }
});

test("a container's output, as Docker keeps it, is read under its trace id", async () => {
  const traceId = 'c0'.repeat(16);
  const line = { time: new Date().toISOString(), level: 'warn', service: 'chat', message: 'slow', trace_id: traceId };
  const kept = { log: `${JSON.stringify(line)}\n`, stream: 'stdout', time: new Date().toISOString() };
  const container = path.join(stack.folder, 'containers/abc');
  await mkdir(container);
  await writeFile(path.join(container, 'abc-json.log'), `${JSON.stringify(kept)}\n`);
  const found = await until('the line', async () => (await linesOf(stack, `trace_id:="${traceId}"`))[0], 30_000);
  expect(found).toMatchObject({ 'service.name': 'chat', level: 'warn', message: 'slow' });
});

test("an application's OTLP is taken as well: its log record and its span", async () => {
  const traceId = 'a1'.repeat(16);
  const nowNs = `${Date.now()}000000`;
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'app' } }] };
  const record = { timeUnixNano: nowNs, severityText: 'INFO', body: { stringValue: 'hello' }, traceId };
  const span = {
    traceId,
    spanId: 'b2'.repeat(8),
    name: 'GET /',
    kind: 2,
    startTimeUnixNano: nowNs,
    endTimeUnixNano: nowNs,
  };
  const post = async (what: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${stack.collectorUrl}/v1/${what}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  };
  await post('logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] });
  await post('traces', { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
  const line = await until('the record', async () => (await linesOf(stack, `trace_id:="${traceId}"`))[0], 30_000);
  expect(line).toMatchObject({ 'service.name': 'app', _msg: 'hello' });
  const [found] = await until('the span', async () => {
    const spans = await spansOf(stack, traceId);
    return spans.length > 0 && spans;
  });
  expect(found).toMatchObject({ traceID: traceId, operationName: 'GET /' });
});

test('one trace id stands in seven places', async () => {
  const id = await until(
    'an exemplar on /metrics of a request that every part has lines about',
    async () => {
      for (const each of await exemplarsOf(stack)) {
        if ((await servicesWithLines(stack, each)).join() === SERVICES.join()) return each;
      }
      return undefined;
    },
    SHIPPED_WITHIN_MS,
  );
  await until('the exemplar in Prometheus', async () => (await storedExemplars(stack)).includes(id));
  expect((await spansOf(stack, id)).map(({ traceID }) => traceID)).toContain(id);
  expect((await rowOf(stack, id))?.trace_id).toBe(id);
  const logs = {
    nginx: 'nginx-logs/access.json.log',
    app: 'apps/backend.log',
    ingest: 'apps/ingest.log',
    // A file for each hour.
    postgres: 'postgres-logs',
  };
  for (const [part, place] of Object.entries(logs)) {
    const lines = (await linesUnder(path.join(stack.folder, place))).filter((line) => line.includes(id));
    expect(lines.length, part).toBeGreaterThan(0);
    for (const line of lines) JSON.parse(line);
  }
});

/** Lines of a file, or of all JSON files of a folder. */
async function linesUnder(place: string): Promise<string[]> {
  const isFolder = (await stat(place)).isDirectory();
  const names = isFolder ? (await readdir(place)).filter((name) => name.endsWith('.json')) : [''];
  const texts = await Promise.all(names.map((name) => readFile(path.join(place, name), 'utf8')));
  return texts.join('').split('\n');
}

/** As it would be written in a command: `250ms` is 250, and `1h` of a rotation 60. */
function plain(setting: string): string {
  return setting.replace(/^(\d+)ms$/, '$1').replace(/^1h$/, '60');
}
