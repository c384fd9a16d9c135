import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';

/** What PostgreSQL itself counts of the partitions of `requests`. */
export interface TableCounters {
  readonly updated: number;
  readonly hotUpdated: number;
}

/** Sessions tell their counts once a second, and the rest of them when they have long been idle: good enough for a share. */
const TOLD_AFTER_MS = 1_500;

export async function readCounters(pool: pg.Pool): Promise<TableCounters> {
  await wait(TOLD_AFTER_MS);
  const { rows } = await pool.query<TableCounters>(`SELECT 
    sum(n_tup_upd)::float8 AS updated, sum(n_tup_hot_upd)::float8 AS "hotUpdated"
    FROM pg_stat_user_tables WHERE relname LIKE 'requests\\_%'`);
  return rows[0]!;
}

export async function walPosition(pool: pg.Pool): Promise<string> {
  return (await pool.query<{ at: string }>('SELECT pg_current_wal_insert_lsn()::text AS at')).rows[0]!.at;
}

/** Bytes of the log between two places, without images of whole pages, and those images alone. */
export async function walBetween(
  pool: pg.Pool,
  from: string,
  to: string,
): Promise<{ records: number; images: number }> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect');
  const { rows } = await pool.query<{ records: number; images: number }>(
    `SELECT sum(record_size)::float8 AS records, sum(fpi_size)::float8 AS images FROM pg_get_wal_stats($1, $2)`,
    [from, to],
  );
  return rows[0]!;
}
