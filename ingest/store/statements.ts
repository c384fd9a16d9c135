import { ARRIVALS_LISTS, ARRIVALS_SOURCE } from './arrivals.ts';
import { COLUMNS, type Column, LISTS, SELECT_ROW, SELECT_ROW_AND_LISTS } from './columns.ts';
import { INSERT_DELTA } from './rollupDeltas.ts';

/** Rows that carry the key of one request are found in the partitions of today and yesterday. */
export interface Statements {
  /** What a connection that writes prepares, by name. */
  readonly prepared: {
    readonly begin: string;
    readonly commit: string;
    /** Locks keys against being made twice, once on each side of midnight. $1: keys as text, sorted. */
    readonly lockKeys: string;
    /** The transaction's number, by which its fate can be asked after a lost answer; the database's clock; its day. */
    readonly identify: string;
    /** $1: keys. Locks their rows, sorted, and tells which there are: key, day, and who wrote it last. */
    readonly lookup: string;
    /** Parameters: {@link Statements.insertColumns}. Fails on a key that another replica made meanwhile. */
    readonly insert: string;
    /** The same, but leaves such a key out and returns those that were made. */
    readonly insertNew: string;
    /** Parameters: {@link Statements.updateColumns}. */
    readonly update: string;
    /** Parameters: arrivals.ts. */
    readonly arrivals: string;
    /** The same where there may be lists already; one that is not brought stays. */
    readonly arrivalsAgain: string;
    /** Parameters: rollupDeltas.ts. */
    readonly rollupDelta: string;
  };
  readonly insertColumns: readonly Column[];
  readonly updateColumns: readonly Column[];
  /** $1: keys. Whole rows, without their lists. */
  readonly rows: string;
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
  const insert = `INSERT INTO requests (day, updated_at, ${insertColumns.map((column) => column.name).join(', ')})
      SELECT ${today}, ${now}, ${insertColumns.map((column) => column.fromArray).join(', ')} FROM ${unnest(insertColumns)}`;
  const arrivals = `INSERT INTO request_arrivals AS a (trace_id, day, arrivals_ms, chunk_tokens)
      SELECT u.trace_id, u.day, ${ARRIVALS_LISTS} FROM ${ARRIVALS_SOURCE}`;

  return {
    prepared: {
      begin: 'BEGIN',
      commit: 'COMMIT',
      lockKeys: 'SELECT count(pg_advisory_xact_lock(hashtextextended(key, 7305))) FROM unnest($1::text[]) AS k(key)',
      identify: `SELECT pg_current_xact_id(), (extract(epoch FROM ${now}) * 1000)::double precision, ${today}`,
      lookup: `SELECT encode(uuid_send(r.trace_id), 'hex'), r.day, r.xmin FROM requests r
      WHERE r.trace_id = ANY ($1::uuid[]) AND r.day >= ${today} - 1
      ORDER BY r.trace_id, r.day FOR UPDATE OF r`,
      insert,
      insertNew: `${insert} ON CONFLICT DO NOTHING RETURNING encode(uuid_send(trace_id), 'hex')`,
      update: `UPDATE requests r SET updated_at = ${now}, ${changing.map((column) => `${column.name} = ${column.fromArray}`).join(', ')}
      FROM ${unnest(updateColumns)} WHERE r.trace_id = u.trace_id AND r.day = u.day`,
      arrivals,
      arrivalsAgain: `${arrivals} ON CONFLICT (trace_id, day) DO UPDATE
      SET ${LISTS.map((name) => `${name} = coalesce(excluded.${name}, a.${name})`).join(', ')}`,
      rollupDelta: INSERT_DELTA,
    },
    insertColumns,
    updateColumns,
    rows: `SELECT ${SELECT_ROW} FROM requests r WHERE r.trace_id = ANY ($1::uuid[]) AND r.day >= ${today} - 1
      ORDER BY r.trace_id, r.day`,
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

/**
 * Columns as rows. Side by side in a list of results, and not in FROM, where PostgreSQL would first write each column to a store of its own: that
 * takes as long as the insert itself.
 */
function unnest(columns: readonly Column[]): string {
  const parameters = columns.map(({ name, arrayType }, index) => `unnest($${index + 1}::${arrayType}) AS ${name}`);
  return `(SELECT ${parameters.join(', ')}) AS u`;
}
