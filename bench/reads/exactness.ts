import type { Figure } from '../figure.ts';
import type { History } from './history.ts';

const SHARES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999] as const;

/**
 * How far percentiles of the rollups are from `percentile_disc` on the same requests: the largest error in per cent over all regions and
 * devices, one value for each share from p50 to p99.9. Whole hours, so that both see the same requests.
 */
export async function percentileError({ pool, from, to }: History): Promise<Figure> {
  const range = [from, to];
  const { rows } = await pool.query<{ errors: number[] }>(
    `WITH bounds AS (
      SELECT date_trunc('hour', $1::timestamptz, 'UTC') + interval '1 hour' AS lower, date_trunc('hour', $2::timestamptz, 'UTC') AS upper
    ), exact AS (
      SELECT region, device::text AS device, percentile_disc('{${SHARES}}'::float8[]) WITHIN GROUP (ORDER BY ttft_ms) AS exact
      FROM requests, bounds
      WHERE started_at >= lower AND started_at < upper AND ttft_ms IS NOT NULL AND flags & 2 = 0
      GROUP BY region, device
    ), rolled AS (
      SELECT region, device, rollup_percentiles('{${SHARES}}', array_agg(bucket), array_agg(n)) AS rolled
      FROM rollups, bounds
      WHERE grain = 'client' AND metric = 'ttft_client' AND hour >= lower AND hour < upper
      GROUP BY region, device
    )
    SELECT ARRAY(
      SELECT max(abs(rolled[at] / exact[at] - 1)) * 100 FROM exact JOIN rolled USING (region, device), generate_series(1, ${SHARES.length}) AS at
      GROUP BY at ORDER BY at
    ) AS errors`,
    range,
  );
  return {
    id: 'reads/percentile-error',
    what: 'largest error of p50 to p99.9, any region and device',
    baseline: 'percentile_disc on the requests',
    unit: '%',
    // Not rounds but shares: the worst of them is what counts.
    rounds: [Math.max(...rows[0]!.errors)],
    goal: { is: 'at most', value: 1 },
    raw: Object.fromEntries(SHARES.map((share, at) => [`p${share * 100} %`, rows[0]!.errors[at]!])),
  };
}

/** Counts by which the rollups differ from a recount of one day's requests; slow. */
export async function recountDifference({ pool, to }: History): Promise<Figure> {
  const day = new Date(to.getTime() - 86_400_000).toISOString().slice(0, 10);
  const key = 'grain, metric, hour, model, region, device, route, variant, tier, stage, outcome, ttft_band, bucket';
  const { rows } = await pool.query<{ difference: number }>(
    `SELECT coalesce(sum(abs(n)), 0)::float8 AS difference FROM (
      SELECT ${key}, sum(n) AS n FROM (
        SELECT ${key}, n FROM rollups
        WHERE hour >= $1::date::timestamp AT TIME ZONE 'UTC' AND hour < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
        UNION ALL SELECT ${key}, -n FROM rollups_recounted WHERE received_on = $1::date
      ) AS both_counts GROUP BY ${key}
    ) AS differences`,
    [day],
  );
  return {
    id: 'reads/recount',
    what: 'counts of a day that differ',
    baseline: 'a recount of its requests',
    unit: '×',
    rounds: [rows[0]!.difference],
    goal: { is: 'at most', value: 0 },
  };
}

/** Bytes of the rollups with their indexes, in per cent of the requests' heap and indexes. */
export async function rollupBytes({ pool }: History): Promise<Figure> {
  const { rows } = await pool.query<{ rollups: number; requests: number; days: number }>(
    `SELECT (SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest('{rollup_hours,rollup_sums,rollup_days,rollup_cells,rollup_deltas}'::text[]) AS name)::float8 AS rollups,
      (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('requests'))::float8 AS requests`,
  );
  const { rollups, requests } = rows[0]!;
  return {
    id: 'reads/rollup-bytes',
    what: 'bytes of the rollups',
    baseline: 'bytes of the requests',
    unit: '%',
    rounds: [(rollups / requests) * 100],
    goal: { is: 'at most', value: 5 },
    raw: { 'rollups MB': rollups / 1e6, 'requests MB': requests / 1e6 },
  };
}
