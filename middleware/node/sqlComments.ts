import { AsyncResource } from 'node:async_hooks';
import { currentTraceId } from './currentRequest.ts';

const KEY = /^[0-9a-f]{32}$/;
const LAST_COMMENT = /\s*\/\* trace_id='[0-9a-f]{32}' \*\/$/;

/**
 * The trace id of the current request as an SQL comment, `/* trace_id='…' *\/`, so that the database's log of slow statements has
 * it; empty outside a request. Only 32 hex digits can stand in it, whatever the client has sent.
 */
export function traceComment(): string {
  const key = currentTraceId();
  return key !== undefined && KEY.test(key) ? `/* trace_id='${key}' */` : '';
}

/**
 * A text of SQL, of one statement or several, with the comment of the current request at its end, where it can begin nothing and
 * end nothing. That of another request, which a text made earlier may carry, is replaced.
 */
export function withTraceComment(text: string): string {
  const comment = traceComment();
  return comment === '' || text.trim() === '' ? text : `${text.replace(LAST_COMMENT, '')} ${comment}`;
}

/** What is used of a client or a pool of the package pg. */
export interface PgQueryable {
  // biome-ignore lint/suspicious/noExplicitAny: pg's `query` has a dozen overloads.
  query(...args: any[]): unknown;
}

const commented = new WeakSet<object>();

/**
 * Lets each statement of a client, or of all clients of a pool, end with the comment of the request that asks for it:
 * `const pool = commentedPg(new pg.Pool())`. Statements with a name stay as they are: a name stands for one text for as long as
 * the connection lives, which pg enforces, and that text is what saves the server from parsing it again. Objects with a life of
 * their own (cursors, streams, `COPY`) stay as they are as well.
 *
 * @returns the same object, changed
 */
export function commentedPg<Queryable extends PgQueryable>(clientOrPool: Queryable): Queryable {
  if (commented.has(clientOrPool)) return clientOrPool;
  commented.add(clientOrPool);
  if (isPool(clientOrPool)) commentClientsOf(clientOrPool);
  else commentStatementsOf(clientOrPool);
  return clientOrPool;
}

type Connected = (error: Error | undefined, client?: PgQueryable, release?: unknown) => void;

interface PgPool extends PgQueryable {
  connect(connected?: Connected): Promise<PgQueryable> | undefined;
}

const isPool = (clientOrPool: PgQueryable): clientOrPool is PgPool =>
  'totalCount' in clientOrPool && 'connect' in clientOrPool;

/** A pool's own `query` gets its client here, too. */
function commentClientsOf(pool: PgPool): void {
  const { connect } = pool;
  pool.connect = (connected) => {
    if (!connected) return connect.call(pool)?.then((client) => commentedPg(client));
    // Who waits for a client is called when another request gives one back, and would be taken for that one.
    const bound = AsyncResource.bind(connected);
    return connect.call(pool, (error, client, release) => bound(error, client && commentedPg(client), release));
  };
}

function commentStatementsOf(client: PgQueryable): void {
  const { query } = client;
  client.query = (config: unknown, ...rest: unknown[]) =>
    Reflect.apply(query, client, [commentedConfig(config), ...rest]);
}

function commentedConfig(config: unknown): unknown {
  if (typeof config === 'string') return withTraceComment(config);
  const { text, name, submit } = (config ?? {}) as { text?: unknown; name?: unknown; submit?: unknown };
  if (typeof text !== 'string' || name || typeof submit === 'function') return config;
  // Not a copy: what makes texts may be of a class, with its fields on the prototype. Not a change: an app may keep it.
  return Object.create(config as object, { text: { value: withTraceComment(text), enumerable: true } });
}
