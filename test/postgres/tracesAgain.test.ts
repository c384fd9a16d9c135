import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ReceivedSpan, startTestCollector, type TestCollector } from '../../ingest/export/testCollector.ts';
import { createDatabase } from './database.ts';
import { openService, query, TOKEN } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { ndjson, send } from './serviceHttp.ts';
import { endProcess, spawnService } from './serviceProcess.ts';

const ROOT = path.join(import.meta.dirname, '../..');

let collector: TestCollector;
beforeEach(async () => {
  collector = await startTestCollector();
});
afterEach(async () => {
  await collector.close();
  expect(collector.faults).toEqual([]);
});

/** `npm run export-traces`, without npm. */
async function exportTraces(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'ingest/export/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

/** What a second export must repeat, in an order of its own. */
function contentOf(spans: readonly ReceivedSpan[]) {
  return spans
    .map(({ spanId, name, startNs, endNs, attributes }) => ({ spanId, name, startNs, endNs, attributes }))
    .sort((one, other) => (one.spanId < other.spanId ? -1 : 1));
}

test('what was exported is exported again, the same; a request of before the time is not', async () => {
  const database = await createDatabase();
  const env = { DATABASE_URL: database.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  try {
    const service = await openService({ databaseUrl: database.url, env: { ...env, JOIN_WAIT: '3600' } });
    const keys = Array.from({ length: 150 }, traceId);
    const [old, unsettled] = [traceId(), traceId()];
    const startedAt = new Date(Date.now() - 3 * 3_600_000).toISOString();
    await service.postTimings(
      ...keys.map((trace_id, index) => serverRecord({ trace_id, backend: 'gpu-1', temperature: 0.1 * (index % 7) })),
      serverRecord({ trace_id: old, started_at: startedAt }),
      serverRecord({ trace_id: unsettled }),
    );
    await service.postBeacons(
      ...keys.map((trace_id, index) => beacon({ trace_id, arrivals_ms: [412.3, 420 + index / 3, 512.3] })),
      beacon({ trace_id: old }),
    );
    await service.stop();
    const requests = collector.spans.filter(({ service }) => service === 'firsttoken');
    const first = requests.filter((span) => span.traceId !== old);
    expect(first).toHaveLength(150 * 9);

    const before = collector.spans.length;
    const { code, output } = await exportTraces(['--since', '1h'], env);
    expect([code, output]).toEqual([0, expect.stringContaining('"requests":150,"exported_spans":1350')]);
    const again = collector.spans.slice(before);
    expect(new Set(again.map((span) => span.traceId))).toEqual(new Set(keys));
    expect(contentOf(again)).toEqual(contentOf(first));

    const sampled = await exportTraces(['--since', '1h'], { ...env, TRACE_SAMPLE_RATE: '0' });
    expect([sampled.code, sampled.output]).toEqual([0, expect.stringContaining('"requests":0')]);
    await query(database.url, 'UPDATE requests SET settled = false');
    expect((await exportTraces(['--since', '1d'], env)).output).toContain('"requests":0');
  } finally {
    await database.drop();
  }
});

test('beside a running service with its embedded PostgreSQL, and without it', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-again-'));
  await chmod(dataDir, 0o755);
  const env = { DATA_DIR: dataDir, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  const service = spawnService({ DATA_DIR: dataDir, INGEST_TOKEN: TOKEN, BEACON_RATE: '0', JOIN_WAIT: '3600' });
  try {
    const { publicUrl } = await service.ready();
    const key = traceId();
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' };
    const record = ndjson([serverRecord({ trace_id: key })]);
    expect((await send(`${publicUrl}/v1/server-timings`, { headers, body: record })).status).toBe(202);
    const body = ndjson([beacon({ trace_id: key })]);
    expect((await send(`${publicUrl}/v1/beacons`, { headers: { 'content-type': 'text/plain' }, body })).status).toBe(
      202,
    );

    const beside = await exportTraces(['--since', '1h'], env);
    expect([beside.code, beside.output]).toEqual([0, expect.stringContaining('"exported_spans":9')]);
    expect((await send(`${publicUrl}/readyz`, { method: 'GET' })).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    const alone = await exportTraces(['--since', '1h'], env);
    expect([alone.code, alone.output]).toEqual([0, expect.stringContaining('"exported_spans":9')]);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(9);
    expect(collector.spans).toHaveLength(18);
  } finally {
    await endProcess(service);
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('what is wrong is said before anything starts', async () => {
  const usage = await exportTraces(['--since', 'yesterday'], {});
  expect([usage.code, usage.output]).toEqual([2, expect.stringContaining('--since takes how long ago')]);
  const nowhere = await exportTraces(['--since', '1h'], {});
  expect([nowhere.code, nowhere.output]).toEqual([
    2,
    expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT must be set'),
  ]);
});

test('a collector that refuses is an error', async () => {
  const database = await createDatabase();
  const env = { DATABASE_URL: database.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  try {
    const service = await openService({ databaseUrl: database.url });
    const key = traceId();
    await service.postTimings(serverRecord({ trace_id: key }));
    await service.postBeacons(beacon({ trace_id: key }));
    await service.stop();
    collector.behave(() => ({ status: 401 }));
    const { code, output } = await exportTraces(['--since', '1h'], env);
    expect([code, output]).toEqual([1, expect.stringMatching(/"dropped_spans":9,"why":"it answered 401"/)]);
  } finally {
    await database.drop();
  }
});
