import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../ingest/log.ts';
import { createPool } from '../../ingest/store/connection.ts';
import { Settlement } from '../../ingest/store/settlement.ts';
import { createStatements } from '../../ingest/store/statements.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { type Scrape, scrape } from './serviceMetrics.ts';
import { openProxy } from './serviceProxy.ts';
import { until } from './serviceWait.ts';

/** Shorter than any test, longer than two posts in a row. */
const SHORT = '0.5';
const NEVER = '3600';

let database: TestDatabase;
let running: RunningService[] = [];
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const service of running) await service.stop();
  running = [];
  await database.drop();
});

async function open(env: NodeJS.ProcessEnv = { JOIN_WAIT: SHORT }): Promise<RunningService> {
  const service = await openService({ databaseUrl: database.url, env });
  running.push(service);
  return service;
}

/** The sums over all instances, once so many requests have settled. */
function settled(requests: number): Promise<Scrape> {
  return until(`${requests} to settle`, async () => {
    const metrics = await scrape(...running);
    return metrics.sum('firsttoken_settled_total') >= requests && metrics;
  });
}

const isSettled = async (key: string) =>
  (await query<{ settled: boolean }>(database.url, 'SELECT settled FROM requests WHERE trace_id = $1', [key]))[0]
    ?.settled;

describe('after the wait a request is counted as it is', () => {
  test('the client half alone', async () => {
    const service = await open();
    await service.postBeacons(beacon({ trace_id: traceId() }));
    const metrics = await settled(1);
    expect(metrics.sum('firsttoken_settled_total', { client: 'yes', server: 'none' })).toBe(1);
    expect(metrics.sum('ttft_client_seconds_count')).toBe(1);
    expect(metrics.sum('ttft_seconds_count') + metrics.sum('hidden_tax_seconds_count')).toBe(0);
  });

  test('the server half alone', async () => {
    const service = await open();
    await service.postTimings(serverRecord({ trace_id: traceId() }));
    const metrics = await settled(1);
    expect(metrics.sum('firsttoken_settled_total', { client: 'no', server: 'direct' })).toBe(1);
    expect(metrics.sum('ttft_seconds_count')).toBe(1);
    expect(metrics.sum('streams_total') + metrics.sum('firsttoken_joined_total')).toBe(0);
  });

  test('a server half that only the client echoed is counted then, and not before', async () => {
    const service = await open({ JOIN_WAIT: '1' });
    await service.postBeacons(beacon({ trace_id: traceId(), timing_trace: '0,1000000,0,0,201000000,0,0' }));
    expect((await scrape(service)).sum('ttft_seconds_count')).toBe(0);
    const metrics = await settled(1);
    expect(metrics.sum('firsttoken_settled_total', { client: 'yes', server: 'echo' })).toBe(1);
    expect(metrics.sum('firsttoken_joined_total', { source: 'echo' })).toBe(1);
    expect(metrics.sum('ttft_seconds_sum')).toBeCloseTo(0.2, 9);
    expect(metrics.sum('hidden_tax_seconds_sum')).toBeCloseTo(0.2123, 9);
    expect(metrics.sum('stage_duration_seconds_count', { stage: 'network' })).toBe(1);
  });

  test('a stream that never ended is "streaming", without TPOT', async () => {
    const service = await open();
    await service.postBeacons(beacon({ trace_id: traceId(), status: 'streaming' }));
    expect((await scrape(service)).sum('streams_total')).toBe(0);
    const metrics = await settled(1);
    expect(metrics.sum('streams_total', { status: 'streaming' })).toBe(1);
    expect(metrics.sum('tpot_seconds_count') + metrics.sum('stream_gap_max_seconds_count')).toBe(0);
    expect(metrics.sum('ttft_client_seconds_count')).toBe(1);
  });

  test('an interim beacon prolongs the wait', async () => {
    const service = await open({ JOIN_WAIT: '1' });
    const key = traceId();
    const began = performance.now();
    for (let seq = 1; performance.now() - began < 1_600; seq += 1) {
      await service.postBeacons(beacon({ trace_id: key, seq, status: 'streaming' }));
      expect(await isSettled(key)).toBe(false);
    }
    await settled(1);
    expect(performance.now() - began).toBeGreaterThan(2_500);
  });
});

test('both final halves settle at once; with EXPECT_GATEWAY only after the wait', async () => {
  const [patient, expecting] = [
    await open({ JOIN_WAIT: NEVER }),
    await open({ JOIN_WAIT: SHORT, EXPECT_GATEWAY: 'true' }),
  ];
  const [one, other] = [traceId(), traceId()];
  for (const [service, key] of [
    [patient, one],
    [expecting, other],
  ] as const) {
    await service.postTimings(serverRecord({ trace_id: key }));
    await service.postBeacons(beacon({ trace_id: key }));
  }
  expect(await isSettled(one)).toBe(true);
  expect((await scrape(patient)).sum('hidden_tax_seconds_count')).toBe(1);
  const metrics = await settled(2);
  expect(await isSettled(other)).toBe(true);
  expect(metrics.sum('hidden_tax_seconds_count')).toBe(2);
});

test('two instances that know the same requests settle each of them once', async () => {
  const services = [await open(), await open()];
  const keys = Array.from({ length: 300 }, traceId);
  await Promise.all([
    services[0]!.postBeacons(
      ...keys.map((trace_id) => beacon({ trace_id, status: 'streaming', timing_trace: '0,1,2,3,4,5,6' })),
    ),
    services[1]!.postBeacons(
      ...keys.map((trace_id) => beacon({ trace_id, status: 'streaming', seq: 2, timing_trace: '0,1,2,3,4,5,6' })),
    ),
  ]);
  await settled(300);
  await until('all rows to be settled', async () => {
    const [row] = await query<{ left: number }>(
      database.url,
      'SELECT count(*)::int AS left FROM requests WHERE NOT settled',
    );
    return row!.left === 0;
  });
  const metrics = await scrape(...services);
  for (const name of ['firsttoken_settled_total', 'streams_total', 'ttft_seconds_count', 'hidden_tax_seconds_count'])
    expect([name, metrics.sum(name)]).toEqual([name, 300]);
});

describe('what a stopped instance left behind', () => {
  test('is settled by the scan with which another one starts', async () => {
    const stopped = await openService({ databaseUrl: database.url, env: { JOIN_WAIT: SHORT } });
    const key = traceId();
    await stopped.postBeacons(beacon({ trace_id: key, status: 'streaming' }));
    await stopped.stop();
    expect(await isSettled(key)).toBe(false);
    await query(database.url, `UPDATE requests SET updated_at = now() - interval '2 seconds'`);
    await open();
    expect((await settled(1)).sum('streams_total', { status: 'streaming' })).toBe(1);
    expect(await isSettled(key)).toBe(true);
  });

  test('is settled by the scan of one that runs, once, and not before twice the wait', async () => {
    const patient = await open({ JOIN_WAIT: NEVER });
    const keys = Array.from({ length: 50 }, traceId);
    await patient.postTimings(...keys.map((trace_id) => serverRecord({ trace_id })));
    const counted: string[] = [];
    const pool = createPool(database.url);
    const rounds = () =>
      new Settlement({
        pool,
        statements: createStatements(),
        joinWaitMs: 60_000,
        log: createLog('error'),
        onCommitted: (_before, { trace_id }) => counted.push(trace_id),
      });
    try {
      await query(database.url, `UPDATE requests SET updated_at = now() - interval '110 seconds'`);
      expect(await rounds().runOnce()).toBe(0);
      await query(database.url, `UPDATE requests SET updated_at = now() - interval '121 seconds'`);
      const numbers = await Promise.all([rounds().runOnce(), rounds().runOnce(), rounds().runOnce()]);
      expect(numbers.reduce((sum, number) => sum + number)).toBe(50);
      expect(counted.sort()).toEqual(keys.sort());
    } finally {
      await pool.end();
    }
  });
});

test('a half that comes after settling updates the row, and no counter', async () => {
  const service = await open();
  const key = traceId();
  await service.postBeacons(beacon({ trace_id: key, status: 'streaming', timing_trace: '0,1,2,3,4,5,6' }));
  const before = await settled(1);
  await service.postTimings(serverRecord({ trace_id: key, backend: 'gpu-9' }));
  await service.postBeacons(beacon({ trace_id: key, seq: 9 }));
  expect((await service.read(key)).json).toMatchObject({
    status: 'complete',
    server: { source: 'direct', ttft_ns: 19, backend: 'gpu-9' },
    client: { seq: 9, tpot_ms: 12.5 },
    stages_ns: { network: 412_299_981 - 2 },
  });
  const after = await scrape(service);
  for (const name of [
    'ttft_seconds_count',
    'streams_total',
    'tpot_seconds_count',
    'hidden_tax_seconds_count',
    'stage_duration_seconds_count',
    'firsttoken_settled_total',
    'firsttoken_joined_total',
  ])
    expect([name, after.sum(name)]).toEqual([name, before.sum(name)]);
});

test('the answer to the COMMIT of a settlement is lost: it took place, and is counted once', async () => {
  const proxy = await openProxy(database.url);
  const service = await openService({ databaseUrl: proxy.url, env: { JOIN_WAIT: SHORT } });
  try {
    const key = traceId();
    await service.postBeacons(beacon({ trace_id: key }));
    await proxy.loseNextCommit();
    expect(await isSettled(key)).toBe(true);
    const count = async () => (await scrape(service)).sum('firsttoken_settled_total');
    await until('it to be counted', async () => (await count()) > 0);
    // A second look at what became of it would count it again.
    const next = traceId();
    await service.postBeacons(beacon({ trace_id: next }));
    await until('another one', async () => (await count()) > 1);
    expect(await count()).toBe(2);
  } finally {
    await service.stop();
    await proxy.close();
  }
});
