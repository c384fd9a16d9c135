import type { Half } from '../pipeline/half.ts';
import { isComplete, joinHalf } from '../pipeline/join.ts';
import { hasClientHalf, type RequestRow } from '../pipeline/row.ts';
import { rowChanged } from './columns.ts';
import type { WriterConnection } from './connection.ts';
import { addStatement, writeKeys, writeLists, writeRows } from './flushMessages.ts';
import { runGroup } from './group.ts';
import type { RollupCells } from './rollupCells.ts';
import { type RollupDelta, rollupDeltas, writeDelta } from './rollupDeltas.ts';
import { type RowCache, xminOf } from './rowCache.ts';
import { classify, isTaken } from './sqlState.ts';
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
  readonly rowCache: RowCache;
  readonly expectGateway: boolean;
  /** The database's clock is within a minute or so of midnight, as far as known. */
  readonly nearMidnight: boolean;
  /** Other replicas have been seen to make the same keys at the same time. */
  readonly contended: boolean;
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
 * It takes two round trips: lock, and write with the commit. Where another replica makes a key at the same moment, that fails and is done again
 * in three: such keys are left out by the insert, and joined in a next round, when they can be seen.
 *
 * @returns whether another replica got in the way
 */
export async function flush(
  writer: WriterConnection,
  halves: readonly Half[],
  options: FlushOptions,
): Promise<boolean> {
  const byKey = new Map<string, Half[]>();
  for (const half of halves) {
    const others = byKey.get(half.key);
    if (others) others.push(half);
    else byKey.set(half.key, [half]);
  }
  // Sorted, so that two flushes wait for each other in one order, and neighbours in the index are written together.
  let keys = [...byKey.keys()].sort();
  let locked = options.nearMidnight;
  let contended = options.contended;
  let disturbed = false;
  while (keys.length > 0) {
    const transaction = await beginJoin(writer, keys, locked);
    if (!locked && isNearMidnight(transaction.nowMs, MIDNIGHT_WINDOW_MS)) {
      await writer.client.query('ROLLBACK');
      locked = true;
      continue;
    }
    const rows = await rowsOf(writer, transaction, options);
    const changes = joinKeys(keys, byKey, rows, transaction.today, options.expectGateway);
    try {
      const taken = contended
        ? await commitMade(writer, transaction, changes, options)
        : await commitAll(writer, transaction, changes, options);
      disturbed ||= taken.length > 0;
      keys = taken;
    } catch (error) {
      if (contended || !isTaken(error)) throw error;
      await writer.client.query('ROLLBACK');
      contended = true;
      disturbed = true;
    }
  }
  return disturbed;
}

/** A transaction that has locked the rows of its keys. */
interface Transaction {
  readonly xid: string;
  /** The database's clock, and its day. */
  readonly nowMs: number;
  readonly today: string;
  /** Rows that are there: key, day, and number of the transaction that wrote them. */
  readonly found: readonly (readonly [key: string, day: string, xmin: string])[];
}

async function beginJoin(
  { client, messages }: WriterConnection,
  keys: readonly string[],
  locked: boolean,
): Promise<Transaction> {
  messages.clear();
  addStatement(messages, 'begin');
  if (locked) addStatement(messages, 'lockKeys', 1, () => messages.texts(keys));
  addStatement(messages, 'identify');
  addStatement(messages, 'lookup', 1, () => writeKeys(messages, keys));
  messages.sync();
  const answers = await runGroup(client, messages);
  const [xid, nowMs, today] = answers.at(-2)!.rows[0] as [string, string, string];
  return { xid, nowMs: Number(nowMs), today, found: answers.at(-1)!.rows as Transaction['found'] };
}

/** The rows that are there, by key: those that this process wrote last from memory, the others from the database. */
async function rowsOf(
  { client }: WriterConnection,
  { found }: Transaction,
  { rowCache, statements }: FlushOptions,
): Promise<Map<string, RequestRow>> {
  const rows = new Map<string, RequestRow>();
  const unknown: string[] = [];
  for (const [key, day, xmin] of found) {
    const row = rowCache.find(key, day, Number(xmin));
    if (row === undefined) unknown.push(key);
    else if (!rows.has(key)) rows.set(key, row);
  }
  if (unknown.length > 0) {
    const read = await client.query<RequestRow>({ name: 'rows', text: statements.rows, values: [unknown] });
    for (const row of read.rows) if (!rows.has(row.trace_id)) rows.set(row.trace_id, row);
  }
  return rows;
}

interface Changes {
  readonly made: readonly Change[];
  readonly changed: readonly Change[];
}

function joinKeys(
  keys: readonly string[],
  byKey: ReadonlyMap<string, readonly Half[]>,
  rows: ReadonlyMap<string, RequestRow>,
  today: string,
  expectGateway: boolean,
): Changes {
  const made: Change[] = [];
  const changed: Change[] = [];
  for (const key of keys) {
    const before = rows.get(key) ?? null;
    let after: RequestRow | null = before === null ? null : { ...before };
    for (const half of byKey.get(key)!) after = joinHalf(after, half);
    if (isComplete(after!, expectGateway)) after!.settled = true;
    if (before === null) made.push({ before, after: { ...after!, day: today } });
    else if (rowChanged(before, after!)) changed.push({ before, after: after! });
  }
  return { made, changed };
}

/** Writes everything and commits, in one round trip. @throws an error that {@link isTaken} when another replica made one of the keys */
async function commitAll(
  writer: WriterConnection,
  { xid }: Transaction,
  { made, changed }: Changes,
  options: FlushOptions,
): Promise<string[]> {
  const { statements } = options;
  const { messages } = writer;
  const all = [...made, ...changed];
  const deltas = await rollupDeltas(options.rollupCells, all);
  messages.clear();
  if (made.length > 0) writeRows(messages, 'insert', statements.insertColumns, made);
  if (changed.length > 0) writeRows(messages, 'update', statements.updateColumns, changed);
  const hadBeacon = ({ before }: Change) => before !== null && hasClientHalf(before);
  writeLists(
    messages,
    'arrivals',
    all.filter((change) => !hadBeacon(change)),
  );
  writeLists(messages, 'arrivalsAgain', all.filter(hadBeacon));
  await commit(writer, xid, all, deltas, options);
  return [];
}

/** The same in two round trips, without the keys that another replica made meanwhile. @returns those keys */
async function commitMade(
  writer: WriterConnection,
  { xid }: Transaction,
  { made, changed }: Changes,
  options: FlushOptions,
): Promise<string[]> {
  const { statements } = options;
  const { client, messages } = writer;
  const own = new Set<string | null>();
  if (made.length > 0) {
    messages.clear();
    writeRows(messages, 'insertNew', statements.insertColumns, made);
    messages.sync();
    for (const [key] of (await runGroup(client, messages))[0]!.rows) own.add(key!);
  }
  const isOwn = ({ after }: Change) => own.has(after.trace_id);
  const all = [...made.filter(isOwn), ...changed];
  const deltas = await rollupDeltas(options.rollupCells, all);
  messages.clear();
  if (changed.length > 0) writeRows(messages, 'update', statements.updateColumns, changed);
  writeLists(messages, 'arrivalsAgain', all);
  await commit(writer, xid, all, deltas, options);
  return made.filter((change) => !isOwn(change)).map(({ after }) => after.trace_id);
}

/** Adds the counts and the commit to the messages, sends all, and tells what has changed. */
async function commit(
  { client, messages }: WriterConnection,
  xid: string,
  changes: readonly Change[],
  deltas: readonly RollupDelta[],
  { rowCache, onCommit }: FlushOptions,
): Promise<void> {
  for (const delta of deltas) addStatement(messages, 'rollupDelta', 4, () => writeDelta(messages, delta));
  addStatement(messages, 'commit');
  messages.sync();
  try {
    const answers = await runGroup(client, messages);
    if (answers.at(-1)!.command !== 'COMMIT') throw new Error('the transaction was rolled back');
  } catch (error) {
    if (classify(error) === 'connection') throw new CommitUnknownError(xid, changes, error);
    throw error;
  }
  const xmin = xminOf(xid);
  for (const { after } of changes) rowCache.keep(after, xmin);
  onCommit(changes);
}
