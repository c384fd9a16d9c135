import type pg from 'pg';
import { inTransaction } from './connection.ts';
import { classify } from './sqlState.ts';

/**
 * Room on each page for the other half, so that its update stays there and touches no index. A joined row takes 1.7 times a server
 * half; fuller pages let fewer than half of the updates stay, and the table ends up larger.
 */
const FILLFACTOR = 40;
/** Tables that are partitioned by day, and how their partitions are stored. */
const PARTITIONED = [
  { table: 'requests', storage: `WITH (fillfactor = ${FILLFACTOR})` },
  { table: 'request_arrivals', storage: '' },
] as const;
const DAYS_AHEAD = 2;
/** Any numbers, the same in all replicas. */
const MAINTENANCE_LOCK = 7_305_001;
const RETENTION_LOCK = 7_305_003;
/** How long dropping waits for readers. */
const PATIENCE_MS = 1_000;

/**
 * Makes the partitions of yesterday, or of more days back, to two days ahead. A table is made on the side and then attached, which does not wait for, nor
 * hold up, readers and writers.
 */
export async function ensurePartitions(pool: pg.Pool, daysBack = 1): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MAINTENANCE_LOCK]);
    for (const { table, storage } of PARTITIONED) {
      const missing = await client.query<{ name: string; day: string; next: string }>(
        `SELECT name, day::text, (day + 1)::text AS next
         FROM generate_series(-$3::integer, $2::integer) AS n
         CROSS JOIN LATERAL (SELECT (now() AT TIME ZONE 'UTC')::date + n AS day) AS days
         CROSS JOIN LATERAL (SELECT $1::text || '_' || to_char(day, 'YYYYMMDD') AS name) AS names
         WHERE to_regclass(name) IS NULL`,
        [table, DAYS_AHEAD, daysBack],
      );
      for (const { name, day, next } of missing.rows) {
        await client.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) ${storage}`);
        await client.query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${day}') TO ('${next}')`);
      }
    }
  });
}

/** What a round of dropping came to: names of partitions. */
export interface Dropped {
  readonly dropped: string[];
  /** Readers of long queries hold them; the next round tries again. */
  readonly busy: string[];
}

/**
 * Drops the partitions that are wholly older than `retentionDays`; dropping a day costs the same however many rows it has.
 *
 * A partition is detached before it is dropped, since dropping it where it is would wait for every reader of the whole table, and
 * every writer would wait behind that. One that a stopped process left half detached, or detached, is finished here.
 */
export async function dropExpired(pool: pg.Pool, retentionDays: number): Promise<Dropped> {
  const result: Dropped = { dropped: [], busy: [] };
  const client = await pool.connect();
  try {
    const lock = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [RETENTION_LOCK]);
    if (!lock.rows[0]!.mine) return result;
    await client.query(`SET lock_timeout = '${PATIENCE_MS}ms'`);
    for (const { table } of PARTITIONED) await dropExpiredOf(client, table, retentionDays, result);
    return result;
  } finally {
    // Ending the session ends its lock and its settings.
    client.release(true);
  }
}

async function dropExpiredOf(
  client: pg.PoolClient,
  table: string,
  retentionDays: number,
  result: Dropped,
): Promise<void> {
  const expired = await client.query<{ name: string; attached: boolean; detaching: boolean }>(
    `SELECT c.relname AS name, i.inhrelid IS NOT NULL AS attached, coalesce(i.inhdetachpending, false) AS detaching
     FROM pg_class parent JOIN pg_class c ON c.relnamespace = parent.relnamespace AND c.relkind = 'r'
     LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = parent.oid
     WHERE parent.oid = $1::text::regclass AND c.relname ~ ('^' || $1::text || '_[0-9]{8}$')
       AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - $2::integer
     ORDER BY detaching DESC, name`,
    [table, retentionDays],
  );
  for (const { name, attached, detaching } of expired.rows) {
    try {
      const how = detaching ? 'FINALIZE' : 'CONCURRENTLY';
      if (attached) await client.query(`ALTER TABLE ${table} DETACH PARTITION ${name} ${how}`);
      await client.query(`DROP TABLE ${name}`);
      result.dropped.push(name);
    } catch (error) {
      if (classify(error) !== 'conflict') throw error;
      result.busy.push(name);
      // Only one partition of a table at a time may be half detached.
      break;
    }
  }
}
