import type pg from 'pg';
import { inTransaction } from './connection.ts';

/** Any number, the same in all replicas. Whoever writes folded histograms holds it. */
const FOLD_LOCK = 7_305_004;
/** Deltas of one transaction: half a minute of full load, in a transaction of a second or two. */
const MAX_DELTAS = 1_000;
/** Today and yesterday still change, since late halves find their rows; a closed day may too, but that is work for few counts. */
const OPEN_DAYS = 2;

/**
 * Moves what has gathered in `rollup_deltas` into the hours, and where a day is closed into that too, in one transaction: a crash
 * leaves everything as it was. Flushes only append, so they never wait for it. Any number of processes may try; one works, the
 * others leave it to that one.
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
 * Makes days of the hours of all but the last days. Keeping the current day current would cost as much as its hours, and reading
 * it from them costs little.
 *
 * @param openDays days that stay open, today being the first
 * @returns how many histograms were made
 */
export function closeRollupDays(pool: pg.Pool, openDays = OPEN_DAYS): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [FOLD_LOCK]);
    const closed = await client.query(CLOSE, [openDays]);
    await client.query(ADVANCE, [openDays]);
    return closed.rowCount ?? 0;
  });
}

/**
 * Deletes histograms that are too old.
 *
 * @returns how many histograms were deleted
 */
export function dropExpiredRollups(pool: pg.Pool, hoursKeptDays: number, daysKeptDays: number): Promise<number> {
  return inTransaction(pool, async (client) => {
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
  ), added_late AS MATERIALIZED (
    SELECT (hour AT TIME ZONE 'UTC')::date AS day, cell, bucket, sum(n) AS n FROM added
    WHERE (hour AT TIME ZONE 'UTC')::date <= (SELECT closed_through FROM rollup_progress)
    GROUP BY 1, 2, 3 HAVING sum(n) <> 0
  ), ${addTo('rollup_hours', 'hour', 'integer', 'added')}, ${addTo('rollup_days', 'day', 'bigint', 'added_late')}
  SELECT count(*)::integer AS deltas FROM taken`;

/** Adds to the histograms that are there; what becomes empty goes. */
function addTo(table: string, time: 'hour' | 'day', countType: string, added: string): string {
  return `${time}_sums AS (
    SELECT ${time}, cell, bucket, sum(n) AS n FROM (
      SELECT ${time}, cell, bucket, n FROM ${added}
      UNION ALL
      SELECT ${time}, cell, u.bucket, u.n FROM (SELECT DISTINCT ${time}, cell FROM ${added}) AS touched
        JOIN ${table} f USING (${time}, cell) CROSS JOIN LATERAL unnest(f.buckets, f.counts) AS u(bucket, n)
    ) AS old_and_new GROUP BY ${time}, cell, bucket
  ), ${time}_histograms AS MATERIALIZED (
    SELECT ${time}, cell, array_agg(bucket ORDER BY bucket) FILTER (WHERE n <> 0) AS buckets,
      array_agg(n::${countType} ORDER BY bucket) FILTER (WHERE n <> 0) AS counts
    FROM ${time}_sums GROUP BY ${time}, cell
  ), ${time}_kept AS (
    INSERT INTO ${table} (${time}, cell, buckets, counts)
    SELECT ${time}, cell, buckets, counts FROM ${time}_histograms WHERE buckets IS NOT NULL
    ON CONFLICT (cell, ${time}) DO UPDATE SET buckets = excluded.buckets, counts = excluded.counts
  ), ${time}_emptied AS (
    DELETE FROM ${table} f USING ${time}_histograms h
    WHERE f.${time} = h.${time} AND f.cell = h.cell AND h.buckets IS NULL
  )`;
}

/** $1: open days. */
const CLOSING = `
  h.hour >= (SELECT (closed_through + 1)::timestamp AT TIME ZONE 'UTC' FROM rollup_progress)
  AND h.hour < ((now() AT TIME ZONE 'UTC')::date - $1::integer + 1)::timestamp AT TIME ZONE 'UTC'`;
const CLOSE = `
  INSERT INTO rollup_days (day, cell, buckets, counts)
  SELECT day, cell, array_agg(bucket ORDER BY bucket), array_agg(n::bigint ORDER BY bucket) FROM (
    SELECT (h.hour AT TIME ZONE 'UTC')::date AS day, h.cell, u.bucket, sum(u.n) AS n
    FROM rollup_hours h CROSS JOIN LATERAL unnest(h.buckets, h.counts) AS u(bucket, n) WHERE ${CLOSING}
    GROUP BY 1, 2, 3 HAVING sum(u.n) <> 0
  ) AS sums GROUP BY day, cell`;
const ADVANCE = `
  UPDATE rollup_progress SET closed_through = (now() AT TIME ZONE 'UTC')::date - $1::integer
  WHERE closed_through < (now() AT TIME ZONE 'UTC')::date - $1::integer`;
