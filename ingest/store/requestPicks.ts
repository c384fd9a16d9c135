import type pg from 'pg';
import { PICK_AFTER_MINUTES, REQUEST_PICK_NAMES, REQUEST_PICKS } from '../../contract/requestPicks.ts';
import { inTransaction } from './connection.ts';

/** Any number, the same in all replicas: one of them picks. */
const PICK_LOCK = 7_305_006;

/**
 * Picks the requests of the next hour that is over, in one transaction. An hour without requests costs a look; where there are none for
 * long, it goes on with the next that has some.
 *
 * @returns whether there may be more to do
 */
export function pickNextHour(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const lock = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [PICK_LOCK]);
    if (!lock.rows[0]?.mine) return false;
    const next = await client.query<{ hour: Date | null }>(NEXT_HOUR);
    const hour = next.rows[0]?.hour ?? null;
    if (hour === null) return false;
    await client.query('DELETE FROM request_picks WHERE hour = $1', [hour]);
    for (const name of REQUEST_PICK_NAMES) await client.query(pickSql(name), [hour]);
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

/** A start is believed up to 5 minutes after its receipt and 24 hours before it; the days bound the partitions that are read. */
const NEXT_HOUR = `
  SELECT date_trunc('hour', min(started_at), 'UTC') AS hour
  FROM requests, (SELECT picked_before FROM request_picks_progress) AS progress
  WHERE started_at >= picked_before
    AND day >= CASE WHEN picked_before = '-infinity' THEN '-infinity' ELSE (picked_before AT TIME ZONE 'UTC')::date - 1 END
    AND started_at < date_trunc('hour', now() - interval '${PICK_AFTER_MINUTES} minutes', 'UTC')`;

function pickSql(name: keyof typeof REQUEST_PICKS): string {
  const { perHour, where, order } = REQUEST_PICKS[name];
  return `
    INSERT INTO request_picks (hour, pick, place, trace_id, day, started_at, ttft_ms, gap_max_ms, model, route, variant, tier, region, device)
    SELECT $1, '${name}', row_number() OVER (ORDER BY ${order}), trace_id, day, started_at, ttft_ms, gap_max_ms,
      model, route, variant, tier, region, device
    FROM requests
    WHERE started_at >= $1 AND started_at < $1::timestamptz + interval '1 hour'
      AND day BETWEEN ($1::timestamptz AT TIME ZONE 'UTC')::date - 1 AND ($1::timestamptz AT TIME ZONE 'UTC')::date + 2
      AND ${where}
    ORDER BY ${order} LIMIT ${perHour}`;
}
