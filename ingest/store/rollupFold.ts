import type pg from 'pg';
import { inTransaction } from './connection.ts';

/** Any number, the same in all replicas. Whoever writes folded histograms holds it. */
const FOLD_LOCK = 7_305_004;
/** Deltas of one transaction: half a minute of full load, in a transaction of a second or two. */
const MAX_DELTAS = 1_000;
/** Today and yesterday still change, since late halves find their rows; a closed day may too, but that is work for few counts. */
const OPEN_DAYS = 2;

/**
 * Moves what has gathered in `rollup_deltas` into the hours and their sums, and where a day is closed into that too, in one transaction: a
 * crash leaves everything as it was. Flushes only append, so they never wait for it. Any number of processes may try; one works, the
 * others leave it to that one.
 *
 * @returns how many deltas were folded
 */
export function foldRollups(pool: pg.Pool, maxDeltas = MAX_DELTAS): Promise<number> {
  return inTransaction(pool, async (client) => {
    const lock = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [FOLD_LOCK]);
    if (!lock.rows[0]?.mine) return 0;
    // A statement of its own, after the lock: it sees all that whoever held it before has folded.
    const folded = await client.query<{ deltas: number; hours: Date[] | null }>(FOLD, [maxDeltas]);
    const { deltas, hours } = folded.rows[0]!;
    // After it, since a statement does not see what it changes itself.
    if (hours !== null) await client.query('SELECT make_rollup_sums($1)', [hours]);
    return deltas;
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
    const expired = `hour < date_trunc('day', now(), 'UTC') - make_interval(days => $1)`;
    await client.query(`DELETE FROM rollup_sums WHERE ${expired}`, [hoursKeptDays]);
    const hours = await client.query(`DELETE FROM rollup_hours WHERE ${expired}`, [hoursKeptDays]);
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
  ), hour_added AS MATERIALIZED (
    SELECT hour, cell, array_agg(bucket) AS buckets, array_agg(n) AS counts FROM (
      SELECT hour, cell, bucket, sum(n)::integer AS n
      FROM (SELECT hour, unnest(cells) AS cell, unnest(buckets) AS bucket, unnest(counts) AS n FROM taken) AS entries
      GROUP BY hour, cell, bucket HAVING sum(n) <> 0
    ) AS sums GROUP BY hour, cell
  ), day_added AS MATERIALIZED (
    SELECT day, cell, array_agg(bucket) AS buckets, array_agg(n::bigint) AS counts FROM (
      SELECT (hour AT TIME ZONE 'UTC')::date AS day, cell, unnest(buckets) AS bucket, unnest(counts) AS n FROM hour_added
      WHERE (hour AT TIME ZONE 'UTC')::date <= (SELECT closed_through FROM rollup_progress)
    ) AS entries GROUP BY day, cell
  ), ${add('hour')}, ${add('day')}
  SELECT count(*)::integer AS deltas, array_agg(DISTINCT hour) AS hours FROM taken`;

/**
 * Adds to the histograms that are there; what becomes empty goes. Each is opened for itself: adding up all of them as one set takes
 * three times as long.
 */
function add(time: 'hour' | 'day'): string {
  const table = `rollup_${time}s`;
  const countType = time === 'hour' ? 'integer' : 'bigint';
  return `${time}_merged AS MATERIALIZED (
    SELECT a.${time}, a.cell, f.cell IS NOT NULL AS there, m.buckets, m.counts
    FROM ${time}_added a LEFT JOIN ${table} f USING (${time}, cell) CROSS JOIN LATERAL (
      SELECT array_agg(bucket) AS buckets, array_agg(n) AS counts FROM (
        SELECT bucket, sum(n)::${countType} AS n
        FROM (SELECT unnest(a.buckets || f.buckets) AS bucket, unnest(a.counts || f.counts) AS n) AS entries
        GROUP BY bucket HAVING sum(n) <> 0
      ) AS sums
    ) AS m
  ), ${time}_made AS (
    INSERT INTO ${table} (${time}, cell, buckets, counts)
    SELECT ${time}, cell, buckets, counts FROM ${time}_merged WHERE NOT there AND buckets IS NOT NULL
  ), ${time}_changed AS (
    UPDATE ${table} f SET buckets = m.buckets, counts = m.counts
    FROM ${time}_merged m WHERE f.${time} = m.${time} AND f.cell = m.cell AND m.buckets IS NOT NULL
  ), ${time}_emptied AS (
    DELETE FROM ${table} f USING ${time}_merged m
    WHERE f.${time} = m.${time} AND f.cell = m.cell AND m.buckets IS NULL
  )`;
}

/** $1: open days. */
const CLOSING = `
  h.hour >= (SELECT (closed_through + 1)::timestamp AT TIME ZONE 'UTC' FROM rollup_progress)
  AND h.hour < ((now() AT TIME ZONE 'UTC')::date - $1::integer + 1)::timestamp AT TIME ZONE 'UTC'`;
const CLOSE = `
  INSERT INTO rollup_days (day, cell, buckets, counts)
  SELECT day, cell, array_agg(bucket), array_agg(n) FROM (
    SELECT day, cell, bucket, sum(n) AS n FROM (
      SELECT (h.hour AT TIME ZONE 'UTC')::date AS day, h.cell, unnest(h.buckets) AS bucket, unnest(h.counts) AS n
      FROM rollup_hours h WHERE ${CLOSING}
    ) AS entries GROUP BY day, cell, bucket HAVING sum(n) <> 0
  ) AS sums GROUP BY day, cell`;
const ADVANCE = `
  UPDATE rollup_progress SET closed_through = (now() AT TIME ZONE 'UTC')::date - $1::integer
  WHERE closed_through < (now() AT TIME ZONE 'UTC')::date - $1::integer`;
