import type pg from 'pg';
import { inTransaction } from './connection.ts';

/**
 * Room on each page for the other half, so that its update stays there and touches no index. A joined row takes 1.7 times a server
 * half; fuller pages let fewer than half of the updates stay, and the table ends up larger.
 */
const FILLFACTOR = 40;
/** Rows over 2 kB, the only ones that PostgreSQL considers, move their long lists out of line until this is left. */
const TOAST_TUPLE_TARGET = 640;
const DAYS_AHEAD = 2;
/** Any number, the same in all replicas. */
const MAINTENANCE_LOCK = 7_305_001;

/**
 * Makes the partitions of yesterday to two days ahead. A table is made on the side and then attached, which does not wait for, nor
 * hold up, readers and writers.
 */
export async function ensurePartitions(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MAINTENANCE_LOCK]);
    const missing = await client.query<{ name: string; day: string; next: string }>(
      `SELECT 'requests_' || to_char(day, 'YYYYMMDD') AS name, day::text, (day + 1)::text AS next
       FROM (SELECT (now() AT TIME ZONE 'UTC')::date + n AS day FROM generate_series(-1, $1::integer) AS n) AS days
       WHERE to_regclass('requests_' || to_char(day, 'YYYYMMDD')) IS NULL`,
      [DAYS_AHEAD],
    );
    for (const { name, day, next } of missing.rows) {
      await client.query(`CREATE TABLE ${name} (LIKE requests INCLUDING ALL)
        WITH (fillfactor = ${FILLFACTOR}, toast_tuple_target = ${TOAST_TUPLE_TARGET})`);
      await client.query(`ALTER TABLE requests ATTACH PARTITION ${name} FOR VALUES FROM ('${day}') TO ('${next}')`);
    }
  });
}

/**
 * Drops the partitions that are wholly older than `retentionDays`; dropping a day costs the same however many rows it has.
 *
 * @returns the names of the dropped partitions
 */
export async function dropExpired(pool: pg.Pool, retentionDays: number): Promise<string[]> {
  const dropped: string[] = [];
  const expired = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'requests'::regclass AND c.relname ~ '^requests_[0-9]{8}$'
       AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - $1::integer
     ORDER BY 1`,
    [retentionDays],
  );
  for (const { name } of expired.rows) {
    await inTransaction(pool, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [MAINTENANCE_LOCK]);
      // Dropping waits for readers of the table, and writers would wait behind it: rather try again in the next round.
      await client.query(`SET LOCAL lock_timeout = '1s'`);
      await client.query(`DROP TABLE IF EXISTS ${name}`);
    });
    dropped.push(name);
  }
  return dropped;
}
