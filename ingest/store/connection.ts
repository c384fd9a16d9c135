import pg from 'pg';

/** A statement that outlives this is cancelled by the server: far longer than a flush takes, shorter than a client waits. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** When not even the cancellation comes back, the connection is dead. */
const SILENCE_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 3_000;

const INT8 = 20;
const DATE = 1082;

/** Durations and counts stay far below 2^53, so they are read as numbers; dates stay text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === DATE) return String;
    return pg.types.getTypeParser(oid, format as 'text');
  }) as pg.CustomTypesConfig['getTypeParser'],
};

/**
 * One connection that writes. Statements are pipelined: a flush is two round trips, however many statements it has. Planner settings
 * keep the plan that is right for a handful of keys also while a new partition has no statistics yet.
 */
export async function connectWriter(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    types,
    pipeline: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: SILENCE_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'firsttoken-writer',
  } as pg.ClientConfig);
  // Without a listener a dropped connection would end the process; the next statement on it reports the loss.
  client.on('error', () => {});
  await client.connect();
  await client.query(`
    SET statement_timeout = ${STATEMENT_TIMEOUT_MS};
    SET lock_timeout = ${STATEMENT_TIMEOUT_MS / 2};
    SET idle_in_transaction_session_timeout = ${SILENCE_TIMEOUT_MS};
    SET timezone = 'UTC';
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET plan_cache_mode = force_generic_plan`);
  return client;
}

/** Connections for everything that is not on the way of an event: reads, settling, partitions, labels. */
export function createPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    types,
    max: 4,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: 30_000,
    statement_timeout: 30_000,
    keepAlive: true,
    application_name: 'firsttoken',
    options: '-c timezone=UTC',
  });
  pool.on('error', () => {});
  return pool;
}

/** Runs `work` in one transaction of the pool. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // Ending the connection ends the transaction, whatever state either is in.
    client.release(true);
    throw error;
  }
}
