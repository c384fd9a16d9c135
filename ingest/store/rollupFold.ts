import type pg from 'pg';
import { inTransaction } from './connection.ts';

/** Any number, the same in all replicas. */
const FOLD_LOCK = 7_305_004;
/** Deltas of one transaction: some seconds of full load, in a transaction of less than a second. */
const MAX_DELTAS = 500;

/** Where folded counts are kept: by which time, and how a delta's hour becomes it. */
const HOURS = { table: 'rollup_hours', time: 'hour', of: 'hour', countType: 'integer' } as const;
const DAYS = { table: 'rollup_days', time: 'day', of: `(hour AT TIME ZONE 'UTC')::date`, countType: 'bigint' } as const;

/**
 * Moves what has gathered in `rollup_deltas` into hours and days, in one transaction: a crash leaves everything as it was. Flushes
 * only append, so they never wait for it. Any number of processes may try; one works, the others leave it to that one.
 *
 * @returns how many deltas were folded
 */
export function foldRollups(pool: pg.Pool, maxDeltas = MAX_DELTAS): Promise<number> {
  return inTransaction(pool, async (client) => {
    const lock = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [FOLD_LOCK]);
    if (!lock.rows[0]?.mine) return 0;
    // A statement of its own, after the lock: it sees all that whoever held it before has folded.
    const folded = await client.query<{ deltas: number }>(FOLD, [maxDeltas]);
    return folded.rows[0]?.deltas ?? 0;
  });
}

/**
 * Deletes histograms that are too old.
 *
 * @returns how many histograms were deleted
 */
export function dropExpiredRollups(pool: pg.Pool, hoursKeptDays: number, daysKeptDays: number): Promise<number> {
  return inTransaction(pool, async (client) => {
    // Folding and this would otherwise wait for each other's rows.
    await client.query('SELECT pg_advisory_xact_lock($1)', [FOLD_LOCK]);
    const hours = await client.query(
      `DELETE FROM rollup_hours WHERE hour < date_trunc('day', now(), 'UTC') - make_interval(days => $1)`,
      [hoursKeptDays],
    );
    const days = await client.query(
      `DELETE FROM rollup_days WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::integer`,
      [daysKeptDays],
    );
    return (hours.rowCount ?? 0) + (days.rowCount ?? 0);
  });
}

/** $1: most deltas. Everything in it sees the tables as they were before it. */
const FOLD = `
  WITH taken AS (
    DELETE FROM rollup_deltas WHERE id = ANY (ARRAY(SELECT id FROM rollup_deltas ORDER BY id LIMIT $1))
    RETURNING hour, cells, buckets, counts
  ), added AS MATERIALIZED (
    SELECT hour, cell, bucket, sum(n) AS n FROM taken CROSS JOIN LATERAL unnest(cells, buckets, counts) AS u(cell, bucket, n)
    GROUP BY hour, cell, bucket HAVING sum(n) <> 0
  ), ${foldInto(HOURS)}, ${foldInto(DAYS)}
  SELECT count(*)::integer AS deltas FROM taken`;

/** Adds to the histograms that are there; what becomes empty goes. */
function foldInto({ table, time, of, countType }: typeof HOURS | typeof DAYS): string {
  return `${time}_summed AS (
    SELECT at, cell, bucket, sum(n) AS n FROM (
      SELECT ${of} AS at, cell, bucket, n FROM added
      UNION ALL
      SELECT f.${time}, f.cell, u.bucket, u.n
      FROM (SELECT DISTINCT ${of} AS at, cell FROM added) AS touched
        JOIN ${table} f ON f.${time} = touched.at AND f.cell = touched.cell
        CROSS JOIN LATERAL unnest(f.buckets, f.counts) AS u(bucket, n)
    ) AS both_of_them GROUP BY at, cell, bucket
  ), ${time}_histograms AS MATERIALIZED (
    SELECT at, cell, array_agg(bucket ORDER BY bucket) FILTER (WHERE n <> 0) AS buckets,
      array_agg(n::${countType} ORDER BY bucket) FILTER (WHERE n <> 0) AS counts
    FROM ${time}_summed GROUP BY at, cell
  ), ${time}_kept AS (
    INSERT INTO ${table} (${time}, cell, buckets, counts)
    SELECT at, cell, buckets, counts FROM ${time}_histograms WHERE buckets IS NOT NULL
    ON CONFLICT (cell, ${time}) DO UPDATE SET buckets = excluded.buckets, counts = excluded.counts
  ), ${time}_emptied AS (
    DELETE FROM ${table} f USING ${time}_histograms h WHERE f.${time} = h.at AND f.cell = h.cell AND h.buckets IS NULL
  )`;
}
