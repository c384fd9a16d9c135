import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../ingest/log.ts';
import { closeRollupDays, dropExpiredRollups, foldRollups } from '../../ingest/store/rollupFold.ts';
import { createRollupFolding } from '../../ingest/store/rollupFolding.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { expectExactRollups, foldedState } from './rollupRecount.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { until } from './serviceWait.ts';

let database: TestDatabase;
let pool: pg.Pool;
let service: RunningService;
beforeEach(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  pool.on('error', () => {});
  service = await openService({ databaseUrl: database.url });
});
afterEach(async () => {
  await service.stop();
  await pool.end();
  await database.drop();
});

/** Posts both halves of some requests, the second in a flush of its own. */
async function postRequests(count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, traceId);
  await service.postTimings(
    ...keys.map((trace_id) => serverRecord({ trace_id, variant: 'a', timing_trace: '1,2,3,4,5,6,70000000' })),
  );
  await service.postBeacons(
    ...keys.map((trace_id, index) => beacon({ trace_id, region: 'eu', since_start_ms: index })),
  );
  return keys;
}

async function foldAll(): Promise<void> {
  while ((await foldRollups(pool)) > 0);
}

/** Holds up every fold at its first write, until released. */
async function holdUpFolds(): Promise<() => Promise<void>> {
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE rollup_hours IN SHARE MODE');
  return () => holder.end();
}

const waiting = () =>
  query<{ pid: number }>(
    database.url,
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%rollup_deltas%'`,
  );

describe('folding', () => {
  test('a second time changes nothing, and a first one no sum', async () => {
    await postRequests(40);
    await foldAll();
    await expectExactRollups(database.url);
    const folded = await foldedState(database.url);
    expect(folded.deltas).toBe(0);
    expect(folded.hours.length).toBeGreaterThan(10);
    expect(await foldRollups(pool)).toBe(0);
    expect(await foldedState(database.url)).toEqual(folded);
  });

  test('many at once: one folds each delta', async () => {
    for (let flushes = 0; flushes < 8; flushes++) await postRequests(5);
    await Promise.all(Array.from({ length: 8 }, (_, number) => foldRollups(pool, 1 + number)));
    await expectExactRollups(database.url);
    await Promise.all(Array.from({ length: 8 }, foldAll));
    await foldAll();
    await expectExactRollups(database.url);
  });

  test('what cancels out leaves no empty histogram behind', async () => {
    const keys = await postRequests(3);
    await foldAll();
    await service.postBeacons(...keys.map((trace_id) => beacon({ trace_id, seq: 2, region: 'us' })));
    await foldAll();
    await expectExactRollups(database.url);
    await closeRollupDays(pool, 0);
    const regions = `SELECT DISTINCT c.region FROM rollup_cells c WHERE c.grain = 'client' AND c.id IN (SELECT cell FROM`;
    for (const table of ['rollup_hours', 'rollup_days'])
      expect(await query(database.url, `${regions} ${table})`)).toEqual([{ region: 'us' }]);
  });

  test('a closed day is the sum of its hours, and takes what comes later', async () => {
    const keys = await postRequests(10);
    await foldAll();
    expect(await closeRollupDays(pool)).toBe(0);
    expect(await closeRollupDays(pool, 0)).toBeGreaterThan(10);
    expect(await closeRollupDays(pool, 0)).toBe(0);
    await expectExactRollups(database.url);
    await service.postBeacons(...keys.map((trace_id) => beacon({ trace_id, seq: 2, region: 'us' })));
    await postRequests(10);
    await expectExactRollups(database.url);
    expect(await closeRollupDays(pool)).toBe(0);
    await foldAll();
    await expectExactRollups(database.url);
  });

  test('one that is held up holds up no flush, and one that is killed has done nothing', async () => {
    await postRequests(20);
    const release = await holdUpFolds();
    // Either this one or the service's own gets the lock.
    const fold = foldRollups(pool).catch(() => {});
    const [folding] = await until('a fold to wait', async () => {
      const found = await waiting();
      return found.length > 0 && found;
    });
    await postRequests(20);
    await expectExactRollups(database.url);
    const before = await foldedState(database.url);
    await query(database.url, 'SELECT pg_terminate_backend($1)', [folding!.pid]);
    await fold;
    expect(await foldedState(database.url)).toEqual(before);
    await release();
    await expectExactRollups(database.url);
    await foldAll();
    expect((await foldedState(database.url)).deltas).toBe(0);
    await expectExactRollups(database.url);
  });

  test('goes on by itself until it is stopped', async () => {
    const folding = createRollupFolding(
      pool,
      30,
      createLog('error', () => {}),
      50,
    );
    await postRequests(5);
    folding.start();
    await until('folded deltas', async () => (await foldedState(database.url)).deltas === 0);
    folding.stop();
    folding.stop();
    await expectExactRollups(database.url);
  });

  test('too old histograms go, by hour and by day', async () => {
    await postRequests(2);
    await foldAll();
    for (const [table, column] of [
      ['rollup_hours', 'hour'],
      ['rollup_days', 'day'],
    ] as const)
      await query(
        database.url,
        `INSERT INTO ${table} (${column}, cell, buckets, counts)
         SELECT d, 0, '{1}', '{1}' FROM generate_series(date_trunc('day', now(), 'UTC') - interval '100 days',
           date_trunc('day', now(), 'UTC') - interval '50 days', '1 day') AS d`,
      );
    expect(await dropExpiredRollups(pool, 60, 90)).toBe(40 + 10);
    await query(database.url, 'DELETE FROM rollup_hours WHERE cell = 0');
    await query(database.url, 'DELETE FROM rollup_days WHERE cell = 0');
    await expectExactRollups(database.url);
  });
});

test('dashboards may read the rollups and change nothing', async () => {
  await postRequests(3);
  const reader = new pg.Client(database.url);
  await reader.connect();
  try {
    await reader.query('SET ROLE grafana_reader');
    for (const relation of ['rollups', 'rollups_daily', 'rollups_recounted', 'rollup_cells', 'rollup_buckets'])
      expect((await reader.query(`SELECT * FROM ${relation} LIMIT 1`)).rowCount).toBe(1);
    const percentile = `SELECT rollup_percentile(0.5, array_agg(bucket), array_agg(n)) AS ms FROM rollups WHERE metric = 'ttft_client'`;
    expect((await reader.query<{ ms: number }>(percentile)).rows[0]!.ms).toBeCloseTo(412.3, -1);
    await expect(reader.query('DELETE FROM rollup_deltas')).rejects.toThrow('permission denied');
  } finally {
    await reader.end();
  }
});
