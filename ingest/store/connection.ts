import pg from 'pg';
import { prepareStatements } from './group.ts';
import { Messages } from './messages.ts';

/** A statement that outlives this is cancelled by the server: far longer than a flush takes, shorter than a client waits (10 s). */
const STATEMENT_TIMEOUT_MS = 5_000;
/** When not even the cancellation comes back, the connection is dead. */
const SILENCE_TIMEOUT_MS = 7_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** A goodbye that nobody answers. */
const GOODBYE_TIMEOUT_MS = 1_000;

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

/** A connection that writes, and the messages that it sends, whose bytes are used again and again. */
export interface WriterConnection {
  readonly client: pg.Client;
  readonly messages: Messages;
}

/**
 * Opens a connection that writes, with these statements prepared. Planner settings keep the plan that is right for a handful of keys also while a
 * new partition has no statistics yet.
 */
export async function connectWriter(
  connectionString: string,
  prepared: Readonly<Record<string, string>>,
): Promise<WriterConnection> {
  const client = new pg.Client({
    connectionString,
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: SILENCE_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'firsttoken-writer',
  } as pg.ClientConfig);
  // Without a listener a dropped connection would end the process; the next statement on it reports the loss.
  client.on('error', () => {});
  await client.connect();
  const settings = client.query(`
    SET statement_timeout = ${STATEMENT_TIMEOUT_MS};
    SET lock_timeout = ${STATEMENT_TIMEOUT_MS / 2};
    SET idle_in_transaction_session_timeout = ${SILENCE_TIMEOUT_MS};
    SET timezone = 'UTC';
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET plan_cache_mode = force_generic_plan`);
  try {
    await settings;
    const messages = new Messages();
    await prepareStatements(client, messages, prepared);
    return { client, messages };
  } catch (error) {
    await disconnect(client);
    throw error;
  }
}

/** Ends a connection in whatever state it is; never rejects, and waits for nobody who has fallen silent. */
export async function disconnect(client: pg.Client | null): Promise<void> {
  if (client === null) return;
  const silent = setTimeout(() => client.connection.stream.destroy(), GOODBYE_TIMEOUT_MS);
  await client.end().catch(() => {});
  clearTimeout(silent);
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
  // The pool listens only to idle connections; one that drops while it is lent would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Ends a pool, without waiting for connections that have fallen silent. */
export async function endPool(pool: pg.Pool): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GOODBYE_TIMEOUT_MS);
  });
  await Promise.race([pool.end(), silent]);
  clearTimeout(timer);
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
