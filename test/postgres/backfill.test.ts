import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backfill } from '../../demo/backfill/backfill.ts';
import { SYNTHETIC } from '../../demo/backfill/historyRows.ts';
import { expectExactRollups } from './rollupRecount.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';

const NOW_MS = Date.now();
const HISTORY = { hours: 30, rowsPerHour: 30, seed: 7, nowMs: NOW_MS };

let service: RunningService;
let pool: pg.Pool;
beforeEach(async () => {
  service = await openService();
  pool = new pg.Pool({ connectionString: service.databaseUrl });
  // The database goes with the service.
  pool.on('error', () => {});
});
afterEach(async () => {
  await pool.end();
  await service.stop();
});

const countRows = async (): Promise<number> =>
  (
    await query<{ n: number }>(
      service.databaseUrl,
      `SELECT count(*)::int AS n FROM requests WHERE call_id = '${SYNTHETIC}'`,
    )
  )[0]!.n;

test('a history beside real requests: rollups are a recount of both, and a second time adds nothing', async () => {
  const mine = Array.from({ length: 20 }, traceId);
  await service.postTimings(...mine.map((trace_id) => serverRecord({ trace_id })));
  await service.postBeacons(...mine.map((trace_id) => beacon({ trace_id })));
  const progress: number[] = [];
  const rows = await backfill({ pool, ...HISTORY, onProgress: ({ share }) => void progress.push(share) });
  expect(rows).toBeGreaterThan(600);
  expect(progress.at(-1)).toBe(1);
  expect(await countRows()).toBe(rows);
  await expectExactRollups(service.databaseUrl);
  expect(await backfill({ pool, ...HISTORY })).toBe(0);
  expect(await countRows()).toBe(rows);
  await expectExactRollups(service.databaseUrl);
  // The service goes on with the cells and words that it finds there.
  await service.postTimings(
    ...Array.from({ length: 20 }, () => serverRecord({ trace_id: traceId(), model: 'qwen3-32b' })),
  );
  await expectExactRollups(service.databaseUrl);
});

test('equal seeds make equal rows, all of them possible, none from the future', async () => {
  await backfill({ pool, ...HISTORY });
  const sums = `SELECT count(*)::int AS n, sum(ttft_ms)::text AS ttft, sum(hashtext(trace_id::text || model || region || status))::text AS words FROM requests`;
  const [first] = await query(service.databaseUrl, sums);
  await query(
    service.databaseUrl,
    'TRUNCATE requests, request_arrivals, rollup_hours, rollup_sums, rollup_days, rollup_deltas',
  );
  await backfill({ pool, ...HISTORY });
  expect(await query(service.databaseUrl, sums)).toEqual([first]);
  const [faults] = await query(
    service.databaseUrl,
    `SELECT count(*) FILTER (WHERE started_at > to_timestamp(${NOW_MS / 1_000}))::int AS future,
      count(*) FILTER (WHERE day <> (started_at AT TIME ZONE 'UTC')::date)::int AS elsewhere,
      count(*) FILTER (WHERE abs(ttft_ms * 1e6 - server_ttft_ns - receive_ns - gateway_ns - network_ns) > 1)::int AS unequal,
      count(*) FILTER (WHERE NOT settled OR model IS NULL OR region IS NULL)::int AS unsettled
     FROM requests`,
  );
  expect(faults).toEqual({ future: 0, elsewhere: 0, unequal: 0, unsettled: 0 });
});

test('shows what it is there to show: a busy evening, a slow night for the database, arrivals of some', async () => {
  await backfill({ pool, ...HISTORY, hours: 80, rowsPerHour: 60 });
  const [figures] = await query(
    service.databaseUrl,
    `WITH hours AS (SELECT extract(hour FROM started_at AT TIME ZONE 'UTC') AS hour, queue_ns, network_ns, region, sub_stages_ns FROM requests)
     SELECT count(*) FILTER (WHERE hour = 17) > 3 * count(*) FILTER (WHERE hour = 5) AS busy,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY queue_ns) FILTER (WHERE hour = 17) > 2 * percentile_disc(0.5) WITHIN GROUP (ORDER BY queue_ns) FILTER (WHERE hour = 5) AS queued,
       bool_and(hour = 3) FILTER (WHERE sub_stages_ns ? 'db') AS nightly,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY network_ns) FILTER (WHERE hour = 14 AND region = 'ap-south') > percentile_disc(0.5) WITHIN GROUP (ORDER BY network_ns) FILTER (WHERE hour = 14 AND region = 'eu-west') AS regional,
       (SELECT count(*) FROM request_arrivals) > 0 AS arrivals
     FROM hours`,
  );
  expect(figures).toEqual({ busy: true, queued: true, nightly: true, regional: true, arrivals: true });
});
