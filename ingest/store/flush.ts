import type pg from 'pg';
import type { Half } from '../pipeline/half.ts';
import { isComplete, joinHalf } from '../pipeline/join.ts';
import type { RequestRow } from '../pipeline/row.ts';
import { arrivalParameters } from './arrivals.ts';
import { type Column, encodeColumn, rowChanged } from './columns.ts';
import type { RollupCells } from './rollupCells.ts';
import { INSERT_DELTA, rollupDeltas } from './rollupDeltas.ts';
import { classify } from './sqlState.ts';
import type { Statements } from './statements.ts';

/** A row as it was, and as a commit made it. */
export interface Change {
  readonly before: RequestRow | null;
  readonly after: RequestRow;
}

/** The connection was lost after COMMIT was sent: only the database knows whether it took place. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError';
  readonly xid: string;
  readonly changes: readonly Change[];

  constructor(xid: string, changes: readonly Change[], cause: unknown) {
    super('the connection was lost before the answer to COMMIT came', { cause });
    this.xid = xid;
    this.changes = changes;
  }
}

export interface FlushOptions {
  readonly statements: Statements;
  readonly rollupCells: RollupCells;
  readonly expectGateway: boolean;
  /** The database's clock is within a minute or so of midnight, as far as known. */
  readonly nearMidnight: boolean;
  /** Told after each commit; a flush may commit in several rounds. */
  readonly onCommit: (changes: readonly Change[]) => void;
}

/** Two flushes that begin this close to midnight could put one key into two days. */
const MIDNIGHT_WINDOW_MS = 60_000;
const DAY_MS = 86_400_000;

export function isNearMidnight(nowMs: number, windowMs: number): boolean {
  const sinceMidnight = ((nowMs % DAY_MS) + DAY_MS) % DAY_MS;
  return sinceMidnight < windowMs || sinceMidnight > DAY_MS - windowMs;
}

/**
 * Joins halves into their rows, in one transaction: look the keys up and lock what is there, join in memory, write back, and commit
 * together with it what the changes come to in the rollups. Whatever the order, replica or day, the row in the database is the only
 * state; doing a flush twice changes nothing.
 *
 * A key that another replica makes at the same moment is left out by the insert and joined in a next round, when it can be seen.
 */
export async function flush(client: pg.Client, halves: readonly Half[], options: FlushOptions): Promise<void> {
  const byKey = new Map<string, Half[]>();
  for (const half of halves) {
    const others = byKey.get(half.key);
    if (others) others.push(half);
    else byKey.set(half.key, [half]);
  }
  // Sorted, so that two flushes wait for each other in one order, and neighbours in the index are written together.
  let keys = [...byKey.keys()].sort();
  let locked = options.nearMidnight;
  while (keys.length > 0) {
    const round = await joinKeys(client, keys, byKey, locked, options);
    if (round === 'lock first') locked = true;
    else keys = round;
  }
}

/** @returns the keys that somebody else made meanwhile */
async function joinKeys(
  client: pg.Client,
  keys: readonly string[],
  byKey: ReadonlyMap<string, readonly Half[]>,
  locked: boolean,
  options: FlushOptions,
): Promise<string[] | 'lock first'> {
  const { statements } = options;
  const [, , identity, found] = await together([
    client.query(statements.begin),
    locked ? client.query(statements.lockKeys, [keys]) : EMPTY,
    client.query<{ xid: string; now_ms: number }>({ name: 'identify', text: statements.identify }),
    client.query<RequestRow>({ name: 'lookup', text: statements.lookup, values: [keys] }),
  ]);
  const { xid, now_ms: nowMs } = identity!.rows[0] as { xid: string; now_ms: number };
  if (!locked && isNearMidnight(nowMs, MIDNIGHT_WINDOW_MS)) {
    await client.query('ROLLBACK');
    return 'lock first';
  }

  const rows = new Map<string, RequestRow>();
  for (const row of found!.rows as RequestRow[]) if (!rows.has(row.trace_id)) rows.set(row.trace_id, row);
  const made: Change[] = [];
  const changed: Change[] = [];
  for (const key of keys) {
    const before = rows.get(key) ?? null;
    let after: RequestRow | null = before === null ? null : { ...before };
    for (const half of byKey.get(key)!) after = joinHalf(after, half);
    if (isComplete(after!, options.expectGateway)) after!.settled = true;
    if (before === null) made.push({ before, after: after! });
    else if (rowChanged(before, after!)) changed.push({ before, after: after! });
  }

  const written = together([
    made.length > 0
      ? client.query({ name: 'insert', text: statements.insert, values: parameters(statements.insertColumns, made) })
      : EMPTY,
    changed.length > 0
      ? client.query({ name: 'update', text: statements.update, values: parameters(statements.updateColumns, changed) })
      : EMPTY,
  ]);
  // Its failure is reported where it is awaited, which may be later than it comes.
  written.catch(() => {});
  // The counts are worked out while PostgreSQL writes. They assume that all is made; only the insert's answer tells.
  let deltas = await rollupDeltas(options.rollupCells, [...made, ...changed]);
  let committed: readonly Change[] = made;
  if (made.length > 0) {
    const own = new Set((await written)[0]!.rows.map((row: { trace_id: string }) => row.trace_id.replaceAll('-', '')));
    committed = made.filter((change) => own.has(change.after.trace_id));
    if (committed.length < made.length) deltas = await rollupDeltas(options.rollupCells, [...committed, ...changed]);
  }

  try {
    const adding = deltas.map((values) => client.query({ name: 'rollup_delta', text: INSERT_DELTA, values }));
    const lists = arrivalParameters([...committed, ...changed].map((change) => change.after));
    if (lists !== null) adding.push(client.query({ name: 'arrivals', text: statements.arrivals, values: lists }));
    const committing = client.query('COMMIT');
    const [, commit] = await together([written.then(([inserted]) => inserted!), committing, ...adding]);
    if (commit!.command !== 'COMMIT') throw new Error('the transaction was rolled back');
  } catch (error) {
    if (classify(error) === 'connection') throw new CommitUnknownError(xid, [...committed, ...changed], error);
    throw error;
  }
  options.onCommit([...committed, ...changed]);
  const taken = new Set(committed);
  return made.filter((change) => !taken.has(change)).map((change) => change.after.trace_id);
}

function parameters(columns: readonly Column[], changes: readonly Change[]): string[] {
  const rows = changes.map((change) => change.after);
  return columns.map((column) => encodeColumn(column, rows));
}

const EMPTY: Promise<pg.QueryResult> = Promise.resolve({ rows: [], command: '', rowCount: 0, oid: 0, fields: [] });

/** Waits for all, also when one fails: the statements after a failed one have been sent, and answer too. */
async function together(queries: readonly Promise<pg.QueryResult>[]): Promise<pg.QueryResult[]> {
  const answers = await Promise.allSettled(queries);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw failed.reason;
  return answers.map((answer) => (answer as PromiseFulfilledResult<pg.QueryResult>).value);
}
