import type pg from 'pg';
import { PICK_AFTER_MINUTES, REQUEST_PICK_NAMES, REQUEST_PICKS, SAMPLE_FACTS } from '../../contract/requestPicks.ts';
import { inTransaction } from './connection.ts';

/** Any number, the same in all replicas: one of them picks. */
const PICK_LOCK = 7_305_006;
const DIMENSIONS = ['model', 'route', 'variant', 'tier', 'region', 'device'];

/**
 * Picks the requests of the next hour that is over, in one transaction; an hour without requests costs a look.
 *
 * @returns whether there may be more to do
 */
export function pickNextHour(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const lock = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [PICK_LOCK]);
    if (!lock.rows[0]?.mine) return false;
    const hour = (await client.query<{ hour: Date }>(NEXT_HOUR)).rows[0]?.hour;
    if (hour === undefined) return false;
    await client.query('DELETE FROM request_picks WHERE hour = $1', [hour]);
    // Each pick reads the hour anew, and with it whatever the index on time does not know yet.
    const any = (await client.query<{ any: boolean }>(ANY_REQUEST, [hour])).rows[0]!.any;
    if (any) for (const name of REQUEST_PICK_NAMES) await client.query(pickSql(name), [hour]);
    await client.query(`UPDATE request_picks_progress SET picked_before = $1::timestamptz + interval '1 hour'`, [hour]);
    return true;
  });
}

/** Begins again with this hour: a history was written for the time after it. */
export async function pickAgainFrom(pool: pg.Pool, hour: Date): Promise<void> {
  await pool.query('UPDATE request_picks_progress SET picked_before = least(picked_before, $1)', [hour]);
}

/** Forgets picks whose requests are gone. */
export async function dropExpiredPicks(pool: pg.Pool, retentionDays: number): Promise<void> {
  await pool.query(
    `DELETE FROM request_picks WHERE hour < date_trunc('day', now(), 'UTC') - make_interval(days => $1)`,
    [retentionDays],
  );
}

/**
 * Where nothing is picked yet, it begins a day before the oldest partition: a start is believed up to 24 hours before its receipt. To ask for
 * the oldest request would read all of them.
 */
const NEXT_HOUR = `
  SELECT hour FROM (
    SELECT CASE WHEN picked_before > '-infinity' THEN picked_before ELSE (
      SELECT (min(to_date(right(c.relname, 8), 'YYYYMMDD')) - 1)::timestamp AT TIME ZONE 'UTC'
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'requests'::regclass
    ) END AS hour FROM request_picks_progress
  ) AS next WHERE hour + interval '1 hour ${PICK_AFTER_MINUTES} minutes' <= now()`;

const OF_THE_HOUR = `started_at >= $1 AND started_at < $1::timestamptz + interval '1 hour'
      AND day BETWEEN ($1::timestamptz AT TIME ZONE 'UTC')::date - 1 AND ($1::timestamptz AT TIME ZONE 'UTC')::date + 2`;

const ANY_REQUEST = `SELECT EXISTS (SELECT FROM requests WHERE ${OF_THE_HOUR}) AS any`;

function pickSql(name: keyof typeof REQUEST_PICKS): string {
  const { perHour, where, order } = REQUEST_PICKS[name];
  const columns = ['trace_id', 'day', 'started_at', 'ttft_ms', 'gap_max_ms', ...DIMENSIONS];
  if (name === 'sample') columns.push(...SAMPLE_FACTS);
  // A busy hour has no more of them than a quiet one: each stands for so many.
  const weight =
    name === 'sample' ? `greatest(1, (SELECT count(*) FROM requests WHERE ${OF_THE_HOUR}) / ${perHour}.0)` : 'NULL';
  return `
    INSERT INTO request_picks (hour, pick, place, stands_for, ${columns.join(', ')})
    SELECT $1, '${name}', row_number() OVER (ORDER BY ${order}), ${weight}, ${columns.join(', ')}
    FROM requests
    WHERE ${OF_THE_HOUR}
      AND ${where}
    ORDER BY ${order} LIMIT ${perHour}`;
}
