import type pg from 'pg';
import type { Log } from '../log.ts';
import type { RequestRow } from '../pipeline/row.ts';
import { type Change, CommitUnknownError } from './flush.ts';
import { classify } from './sqlState.ts';
import type { Statements } from './statements.ts';
import type { OnCommitted } from './store.ts';
import { UnknownCommits } from './unknownCommits.ts';

/** Keys that one process remembers as unsettled; what is beyond that is found by the scan for orphans. */
const MAX_REMEMBERED = 200_000;
const MAX_PER_ROUND = 2_000;
/** The commit's clock and ours differ a little. */
const GRACE_MS = 200;
/** A scan for orphans reads what began so recently, which the index on time finds … */
const SCAN_BACK_MS = 2 * 3_600_000;
/** … and once in so long, and at the start, all that may still be settled: streams can be long, and spooled halves late. */
const FULL_SCAN_EVERY_MS = 6 * 3_600_000;
const FULL_SCAN_BACK_MS = 3 * 86_400_000;

export interface SettlementOptions {
  readonly pool: pg.Pool;
  readonly statements: Statements;
  readonly joinWaitMs: number;
  readonly log: Log;
  readonly onCommitted: OnCommitted;
}

/**
 * Settles requests whose missing half did not come within the wait: from then on they are counted as they are. Each process
 * remembers the keys that it wrote; now and then one scan finds those that a stopped process left behind. A row is claimed by its
 * lock and the `settled` column, so that two replicas never count the same.
 */
export class Settlement {
  readonly #options: SettlementOptions;
  /** Key to the time when it is due, in the order of writing, so that the due ones come first. */
  readonly #due = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #unknown: UnknownCommits;
  #nextScanAt = 0;
  #nextFullScanAt = 0;

  constructor(options: SettlementOptions) {
    this.#options = options;
    this.#unknown = new UnknownCommits((changes) => this.#count(changes));
  }

  /** Told of each committed row. */
  remember(row: RequestRow): void {
    this.#due.delete(row.trace_id);
    if (row.settled || this.#due.size >= MAX_REMEMBERED) return;
    this.#due.set(row.trace_id, Date.now() + this.#options.joinWaitMs + GRACE_MS);
  }

  /** One round over what is due. @returns how many requests were settled */
  async runOnce(): Promise<number> {
    if (this.#unknown.size > 0) await this.#askForUnknown();
    const nowMs = Date.now();
    const due: [key: string, dueAtMs: number][] = [];
    for (const each of this.#due) {
      if (each[1] > nowMs || due.length === MAX_PER_ROUND) break;
      due.push(each);
    }
    let settled = 0;
    if (due.length > 0) {
      const { statements, joinWaitMs } = this.#options;
      settled += await this.#settle(statements.findDue, [due.map(([key]) => key), joinWaitMs / 1000]);
      // Not found means settled by another replica, or extended by a half that it took: the scan looks after the latter. What a
      // half that came meanwhile extended here is due later.
      for (const [key, dueAtMs] of due) if (this.#due.get(key) === dueAtMs) this.#due.delete(key);
    }
    if (nowMs >= this.#nextScanAt) settled += await this.#scan(nowMs);
    return settled;
  }

  start(): void {
    const everyMs = Math.min(1_000, Math.max(50, this.#options.joinWaitMs / 4));
    const next = (): void => {
      this.#timer = setTimeout(async () => {
        await this.runOnce().catch((error) => this.#options.log.warn('settling failed; it is tried again', { error }));
        if (this.#timer !== undefined) next();
      }, everyMs);
      this.#timer.unref();
    };
    next();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #scan(nowMs: number): Promise<number> {
    const { statements, joinWaitMs } = this.#options;
    // It reads many rows, so it comes rarely; twice the wait leaves to each process what it remembers itself.
    this.#nextScanAt = nowMs + Math.max(5 * joinWaitMs, 60_000);
    const full = nowMs >= this.#nextFullScanAt;
    if (full) this.#nextFullScanAt = nowMs + FULL_SCAN_EVERY_MS;
    const backMs = full ? FULL_SCAN_BACK_MS : SCAN_BACK_MS + 5 * joinWaitMs;
    let total = 0;
    for (;;) {
      const settled = await this.#settle(statements.findOrphans, [
        (2 * joinWaitMs) / 1000,
        MAX_PER_ROUND,
        backMs / 1000,
      ]);
      total += settled;
      if (settled < MAX_PER_ROUND) return total;
    }
  }

  async #settle(find: string, parameters: unknown[]): Promise<number> {
    const client = await this.#options.pool.connect();
    let committing = false;
    let xid = '';
    let changes: Change[] = [];
    try {
      await client.query('BEGIN');
      const found = await client.query<RequestRow>(find, parameters);
      if (found.rows.length > 0) {
        const updated = await client.query<{ xid: string }>(
          `UPDATE requests r SET settled = true FROM unnest($1::uuid[], $2::date[]) AS u(trace_id, day)
           WHERE r.trace_id = u.trace_id AND r.day = u.day AND r.day >= (SELECT min(d) FROM unnest($2::date[]) AS d)
           RETURNING pg_current_xact_id()::text AS xid`,
          [found.rows.map((row) => row.trace_id), found.rows.map((row) => row.day)],
        );
        xid = updated.rows[0]!.xid;
      }
      changes = found.rows.map((row) => ({ before: row, after: { ...row, settled: true } }));
      committing = true;
      await client.query('COMMIT');
      client.release();
    } catch (error) {
      // Ending the connection ends the transaction, whatever state either is in.
      client.release(true);
      if (committing && classify(error) === 'connection')
        this.#unknown.add(new CommitUnknownError(xid, changes, error));
      throw error;
    }
    this.#count(changes);
    return changes.length;
  }

  /** What became of settlements whose connection broke under their COMMIT: they are counted if they took place. */
  async #askForUnknown(): Promise<void> {
    const client = await this.#options.pool.connect();
    try {
      await this.#unknown.settle(client);
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  #count(changes: readonly Change[]): void {
    for (const { before, after } of changes) this.#options.onCommitted(before, after);
  }
}
