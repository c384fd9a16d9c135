import { expect } from 'vitest';
import { recountRollups } from './rollupLines.ts';
import { query } from './service.ts';

/**
 * Rollups by hour and by day are exactly what the rows come to; so are the recount in SQL, and of what is folded the sums.
 *
 * @returns how many counts there are by hour, for a test to see that there was something to compare
 */
export async function expectExactRollups(databaseUrl: string): Promise<number> {
  const found = await recountRollups((statement) => query(databaseUrl, statement));
  for (const { told, recounted } of found) expect(told).toEqual(recounted);
  const [sums] = await query<{ kept: unknown; added: unknown }>(databaseUrl, SUMS);
  expect(sums!.kept).toEqual(sums!.added);
  return found[0]!.recounted.length;
}

/** The sums as they are kept, with counts made from the running ones, and added up from the hours. */
const KEY = `hour, grain, metric, coalesce(region, '-'), coalesce(device, '-'), coalesce(variant, '-'), coalesce(stage, '-')`;
const SUMS = `
  WITH kept AS (
    SELECT concat_ws(' ', ${KEY}, bucket, n, running - coalesce(lag(running) OVER (PARTITION BY ${KEY} ORDER BY bucket), 0)) AS line
    FROM rollup_sums CROSS JOIN LATERAL unnest(buckets, counts, upto) AS u(bucket, n, running)
  ), added AS (
    SELECT concat_ws(' ', ${KEY}, bucket, sum(n), sum(n)) AS line
    FROM rollup_cells JOIN rollup_hours ON cell = id CROSS JOIN LATERAL unnest(buckets, counts) AS u(bucket, n)
    WHERE grain = 'client' AND metric = 'ttft_client' OR grain = 'route' AND metric <> 'ttft_server' OR grain = 'stage'
    GROUP BY ${KEY}, bucket
  )
  SELECT ARRAY(SELECT line FROM kept ORDER BY 1) AS kept, ARRAY(SELECT line FROM added ORDER BY 1) AS added`;

/** The whole content of the folded tables, and how much is not folded. */
export async function foldedState(databaseUrl: string): Promise<{ hours: unknown[]; days: unknown[]; deltas: number }> {
  const [left] = await query<{ n: number }>(databaseUrl, 'SELECT count(*)::int AS n FROM rollup_deltas');
  return {
    hours: await query(databaseUrl, 'SELECT * FROM rollup_hours ORDER BY hour, cell'),
    days: await query(databaseUrl, 'SELECT * FROM rollup_days ORDER BY day, cell'),
    deltas: left!.n,
  };
}
