import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startTestCollector } from '../../ingest/export/testCollector.ts';
import { createDatabase } from './database.ts';
import { openService, query, type RunningService, TOKEN } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { send } from './serviceHttp.ts';
import { openProxy } from './serviceProxy.ts';
import { until } from './serviceWait.ts';

/** Each stands for something of a person, or a secret, that must be found nowhere afterwards. */
const CANARIES = {
  prompt: 'canary-prompt-Krk7',
  answer: 'canary-answer-Zw3q',
  agent: 'canary-agent-Pt8v',
  cookie: 'canary-cookie-Hd2m',
  referrer: 'canary-referrer-Yx6n',
  wrongToken: 'canary-token-Bv9s',
  refused: 'canary-refused-Qm4c',
  page: 'canary-page-Ue5t',
  address: '203.0.113.77',
  address6: '2001:db8:77:77:cafe:cafe:cafe:cafe',
  network6: '2001:db8:77:77',
  token: TOKEN,
} as const;

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
  cleanups = [];
});

/** What a browser or a server sends beside what was asked of it, by mistake or by nature. */
function headersOf(address: string): Record<string, string> {
  return {
    'user-agent': CANARIES.agent,
    cookie: `session=${CANARIES.cookie}`,
    referer: `https://app.example/${CANARIES.referrer}`,
    'x-forwarded-for': `6.6.6.6, ${address}`,
    forwarded: `for=${CANARIES.address}`,
    'x-real-ip': CANARIES.address,
    'cf-connecting-ip': CANARIES.address6,
    authorization: `Bearer ${TOKEN}`,
  };
}

const TALKATIVE = {
  prompt: CANARIES.prompt,
  messages: [{ role: 'user', content: CANARIES.prompt }],
  text: CANARIES.answer,
  choices: [{ delta: { content: CANARIES.answer } }],
  user_agent: CANARIES.agent,
  ip: CANARIES.address,
};

/**
 * Posts of every kind, right and wrong ones.
 *
 * @param most what a refusal may answer: while PostgreSQL is away nobody can read
 * @returns the ids that were taken
 */
async function sendAll(service: RunningService, most = 499): Promise<string[]> {
  const keys = [traceId(), traceId(), traceId()];
  const post = (at: string, body: unknown, headers: Record<string, string> = {}) =>
    service.send(at, {
      headers: { ...headersOf(CANARIES.address), 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const taken = [
    await post('/v1/server-timings', { ...serverRecord({ trace_id: keys[0]! }), ...TALKATIVE }),
    await post('/v1/beacons', { ...beacon({ trace_id: keys[0]! }), ...TALKATIVE }),
    await post(
      '/v1/beacons',
      { ...beacon({ trace_id: keys[1]! }), ...TALKATIVE, model: CANARIES.page },
      headersOf(CANARIES.address6),
    ),
    await post('/v1/gateway-logs', {
      trace_id: keys[0]!,
      status: '200',
      request: CANARIES.prompt,
      remote_addr: CANARIES.address,
      http_user_agent: CANARIES.agent,
    }),
    await post('/v1/server-timings', '', {
      'content-length': '0',
      'x-trace-id': keys[2]!,
      'x-timing-trace': '1,2,3,4,5,6,7',
      'server-timing': `db;dur=1;desc="${CANARIES.prompt}"`,
    }),
  ];
  expect(taken.map(({ status, text }) => [status, text])).toEqual(taken.map(() => [202, expect.any(String)]));

  const refused = [
    await post('/v1/beacons', `{"v":1,"trace_id":"${CANARIES.refused}`),
    await post('/v1/beacons', { v: 1, trace_id: `${CANARIES.refused}\n`, status: 'complete' }),
    await post('/v1/beacons', { v: 1, trace_id: traceId(), status: CANARIES.refused }),
    await post('/v1/server-timings', { trace_id: traceId(), timing_trace: CANARIES.refused }),
    await post('/v1/server-timings', {
      trace_id: traceId(),
      timing_trace: '1,2,3,4,5,6,7',
      sub_stages: { [CANARIES.refused]: -1 },
    }),
    await post('/v1/server-timings', serverRecord({ trace_id: traceId() }), {
      authorization: `Bearer ${CANARIES.wrongToken}`,
    }),
    await post('/v1/beacons', beacon({ trace_id: traceId() }), {
      origin: `https://${CANARIES.refused.toLowerCase()}.example`,
    }),
    await post('/v1/beacons', 'a', { 'content-type': `text/${CANARIES.refused}` }),
    await post('/v1/beacons', 'a', { 'content-encoding': CANARIES.refused }),
    await post(`/${CANARIES.refused}?q=${CANARIES.prompt}`, {}),
    await service.send(`/v1/requests/${CANARIES.refused}`, { method: 'GET', headers: headersOf(CANARIES.address) }),
  ];
  for (const { status, text } of refused) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThanOrEqual(most);
    expectNoCanary('an answer', text);
  }
  return keys;
}

function expectNoCanary(where: string, text: string): void {
  for (const [what, canary] of Object.entries(CANARIES)) {
    if (text.toLowerCase().includes(canary.toLowerCase())) expect.fail(`${where} holds ${what}`);
  }
}

/** Every row of every table, partitions and dictionaries included. */
async function allTables(databaseUrl: string): Promise<string> {
  const tables = await query<{ name: string }>(
    databaseUrl,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) =>
      (await query<{ row: string }>(databaseUrl, `SELECT t::text AS row FROM ${name} t`))
        .map(({ row }) => row)
        .join('\n'),
    ),
  );
  return texts.join('\n');
}

test('nothing of a prompt, an answer, a person or a secret is in tables, logs, metrics or traces', async () => {
  const collector = await startTestCollector();
  cleanups.push(() => collector.close());
  const service = await openService({
    env: {
      LOG_LEVEL: 'debug',
      TRUST_PROXY_HOPS: '1',
      JOIN_WAIT: '0.1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    },
  });
  cleanups.push(() => service.stop());
  const keys = await sendAll(service);

  await until('all traces', () => keys.every((key) => collector.spans.some(({ traceId: id }) => id === key)), 30_000);
  const metrics = await Promise.all(
    ['text/plain', 'application/openmetrics-text'].map((accept) =>
      send(`${service.adminUrl}/metrics`, { method: 'GET', headers: { accept } }).then(({ text }) => text),
    ),
  );
  const places = {
    tables: await allTables(service.databaseUrl),
    log: JSON.stringify(service.log),
    metrics: metrics.join('\n'),
    traces: JSON.stringify(collector.spans, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  };
  // Where the id is, the rest was looked for in the right place.
  expect(places.tables.replaceAll('-', '')).toContain(keys[0]!);
  expect(places.traces).toContain(keys[0]!);
  expect(places.metrics).toContain(keys[0]!);
  expect(places.log).toContain('ready');
  for (const [where, text] of Object.entries(places)) expectNoCanary(where, text);
});

test('nor in the spool while PostgreSQL is away', async () => {
  const database = await createDatabase();
  cleanups.push(() => database.drop());
  const proxy = await openProxy(database.url);
  cleanups.push(() => proxy.close());
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-canaries-'));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  const service = await openService({
    databaseUrl: proxy.url,
    env: { DATA_DIR: dataDir, LOG_LEVEL: 'debug', TRUST_PROXY_HOPS: '1' },
  });
  cleanups.push(() => service.stop());
  await proxy.set('refuse');
  const keys = await sendAll(service, 503);
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((entry) => entry.isFile()).map((entry) => readFile(path.join(entry.parentPath, entry.name), 'latin1')),
  );
  const spool = texts.join('\n');
  expect(spool).toContain(keys[0]!);
  // What a page calls its model is compared with the known ones when PostgreSQL is back; until then it waits here.
  expectNoCanary('the spool', spool.replaceAll(CANARIES.page, ''));
  expectNoCanary('the log', JSON.stringify(service.log));
  await proxy.set('open');
  await until('the spool to be drained', async () => (await service.read(keys[1]!)).status === 200, 30_000);
  expectNoCanary('the tables', await allTables(database.url));
});
