import { COLUMNS, type Column, LISTS, SELECT_ROW, SELECT_ROW_AND_LISTS } from './columns.ts';

/** Rows that carry the key of one request are found in the partitions of today and yesterday. */
export interface Statements {
  readonly begin: string;
  /** Locks keys against being made twice, once on each side of midnight. $1: keys as text, sorted. */
  readonly lockKeys: string;
  /** The transaction's number, by which its fate can be asked after a lost answer, and the database's clock. */
  readonly identify: string;
  /** $1: keys. Rows come sorted and locked. */
  readonly lookup: string;
  /** Parameters: {@link insertColumns}. Returns the keys that were made; a key that another replica made meanwhile is missing. */
  readonly insert: string;
  readonly insertColumns: readonly Column[];
  /** Parameters: {@link updateColumns}. */
  readonly update: string;
  readonly updateColumns: readonly Column[];
  /** Parameters: arrivals.ts. A list that is not brought stays. */
  readonly arrivals: string;
  /** $1: key. The newest row of it in all days, with its lists. */
  readonly read: string;
  /** $1: keys, $2: seconds that a request waits. Unsettled rows that nobody else is settling. */
  readonly findDue: string;
  /** $1: seconds that a request waits, $2: most rows, $3: seconds back to the start of the oldest. Unsettled rows that a stopped process left behind. */
  readonly findOrphans: string;
}

/** @param now SQL for the database's clock; tests move it across midnight */
export function createStatements(now = 'now()'): Statements {
  const today = `(${now} AT TIME ZONE 'UTC')::date`;
  const insertColumns = COLUMNS.filter((column) => column.name !== 'day');
  const updateColumns = COLUMNS.filter(
    (column) => column.changes || column.name === 'trace_id' || column.name === 'day',
  );
  const changing = updateColumns.filter((column) => column.changes);

  return {
    begin: 'BEGIN',
    lockKeys: 'SELECT count(pg_advisory_xact_lock(hashtextextended(key, 7305))) FROM unnest($1::text[]) AS k(key)',
    identify: `SELECT pg_current_xact_id()::text AS xid, (extract(epoch FROM ${now}) * 1000)::double precision AS now_ms`,
    lookup: `SELECT ${SELECT_ROW} FROM requests r
      WHERE r.trace_id = ANY ($1::uuid[]) AND r.day >= ${today} - 1
      ORDER BY r.trace_id, r.day FOR UPDATE OF r`,
    insert: `INSERT INTO requests (day, updated_at, ${insertColumns.map((column) => column.name).join(', ')})
      SELECT ${today}, ${now}, ${insertColumns.map((column) => column.fromArray).join(', ')} FROM ${unnest(insertColumns)}
      ON CONFLICT DO NOTHING RETURNING trace_id::text`,
    insertColumns,
    update: `UPDATE requests r SET updated_at = ${now}, ${changing.map((column) => `${column.name} = ${column.fromArray}`).join(', ')}
      FROM ${unnest(updateColumns)} WHERE r.trace_id = u.trace_id AND r.day = u.day`,
    updateColumns,
    arrivals: `INSERT INTO request_arrivals AS a (trace_id, day, arrivals_ms, chunk_tokens)
      SELECT u.trace_id, coalesce(u.day, ${today}), u.arrivals_ms::real[], u.chunk_tokens::smallint[]
      FROM unnest($1::uuid[], $2::date[], $3::text[], $4::text[]) AS u(trace_id, day, arrivals_ms, chunk_tokens)
      ON CONFLICT (trace_id, day) DO UPDATE
      SET ${LISTS.map((name) => `${name} = coalesce(excluded.${name}, a.${name})`).join(', ')}`,
    read: `SELECT ${SELECT_ROW_AND_LISTS}
      FROM requests r LEFT JOIN request_arrivals a ON a.trace_id = r.trace_id AND a.day = r.day
      WHERE r.trace_id = $1::uuid ORDER BY r.day DESC LIMIT 1`,
    findDue: `SELECT ${SELECT_ROW} FROM requests r
      WHERE r.trace_id = ANY ($1::uuid[]) AND r.day >= ${today} - 1
        AND NOT r.settled AND r.updated_at <= ${now} - make_interval(secs => $2)
      ORDER BY r.trace_id, r.day FOR UPDATE OF r SKIP LOCKED`,
    findOrphans: `SELECT ${SELECT_ROW} FROM requests r
      WHERE r.day >= ${today} - 1 AND r.started_at >= ${now} - make_interval(secs => $3)
        AND NOT r.settled AND r.updated_at <= ${now} - make_interval(secs => $1)
      LIMIT $2 FOR UPDATE OF r SKIP LOCKED`,
  };
}

function unnest(columns: readonly Column[]): string {
  const parameters = columns.map((column, index) => `$${index + 1}::${column.arrayType}`);
  return `unnest(${parameters.join(', ')}) AS u(${columns.map((column) => column.name).join(', ')})`;
}
