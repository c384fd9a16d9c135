import type pg from 'pg';
import type { Log } from '../log.ts';
import type { Half } from '../pipeline/half.ts';
import type { RequestRow } from '../pipeline/row.ts';
import type { Metrics } from '../registry.ts';
import { connectWriter, disconnect, type WriterConnection } from './connection.ts';
import { CommitUnknownError, flush, isNearMidnight } from './flush.ts';
import { ensurePartitions } from './partitions.ts';
import { DURABLE, Post, type Waiting } from './post.ts';
import { RollupCells } from './rollupCells.ts';
import { RowCache } from './rowCache.ts';
import { classify } from './sqlState.ts';
import type { Statements } from './statements.ts';
import { type OnCommitted, type Readiness, type Store, StoreUnavailableError, type WriteResult } from './store.ts';
import { UnknownCommits } from './unknownCommits.ts';

/** Halves of one flush: enough for a full batch to pay, few enough that nobody waits long behind them. */
const MAX_FLUSH = 1_000;
/** Halves that may wait; beyond that a quick refusal is kinder than a long wait. */
const MAX_WAITING = 20_000;
/** How long a flush is tried again before those who wait are told. Longer than a connection takes to come back. */
const GIVE_UP_MS = 3_000;
const RETRY_DELAY_MS = 50;
const RECONNECT_DELAY_MS = 250;
/** A flush that has taken so long stands still: those who wait are better served elsewhere. */
const STALLED_AFTER_MS = 1_500;
const LOOK_FOR_STALLS_EVERY_MS = 250;
/** A row is read in a millisecond; whoever asks should soon hear that nobody knows. */
const READ_TIMEOUT_MS = 5_000;
const PING_TIMEOUT_MS = 2_000;
/** What a stop gives to the last flush. Its posts have been answered or cut by then, so a longer wait helps nobody. */
const CLOSE_PATIENCE_MS = 2_000;
/** How long flushes go the longer way after another replica has got in the way of one. */
const CONTENDED_FOR_MS = 10_000;
/** Clocks of two machines differ: lock early rather than roll back. */
const MIDNIGHT_GUARD_MS = 120_000;

export interface PostgresStoreOptions {
  readonly connectionString: string;
  /** For reads and partitions; the caller ends it after the store is closed. */
  readonly pool: pg.Pool;
  readonly statements: Statements;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly expectGateway: boolean;
  readonly onCommitted: OnCommitted;
}

/** What is being committed, and since when. */
interface Flushing {
  readonly batch: readonly Waiting[];
  readonly sinceMs: number;
}

/**
 * The store on PostgreSQL, with group commit: what has gathered while the connection was busy goes in one flush, and each answer
 * waits for its own commit. There is no timer: an idle connection flushes at once, so a lone event waits for nobody.
 *
 * One connection writes. Two would halve the flushes, which cost nearly the same whether small or large, and get in each other's way.
 */
export class PostgresStore implements Store {
  readonly #options: PostgresStoreOptions;
  #connection: WriterConnection | null = null;
  #flushing: Flushing | null = null;
  readonly #rollupCells: RollupCells;
  readonly #rowCache = new RowCache();
  readonly #unknown: UnknownCommits;
  #waiting: Waiting[] = [];
  #contendedUntilMs = 0;
  #down = false;
  #closed = false;
  #cut = false;
  #probe: NodeJS.Timeout | undefined;
  #probing: Promise<void> | undefined;
  #idle: (() => void) | undefined;
  readonly #stallWatch: NodeJS.Timeout;

  constructor(options: PostgresStoreOptions) {
    this.#options = options;
    this.#rollupCells = new RollupCells(options.pool);
    this.#stallWatch = setInterval(() => this.#lookForStalls(), LOOK_FOR_STALLS_EVERY_MS);
    this.#stallWatch.unref();
    this.#unknown = new UnknownCommits((changes) => {
      for (const { before, after } of changes) options.onCommitted(before, after);
    });
    options.metrics.storeUp.set([], 1);
    options.metrics.waitingEvents.set([], 0);
  }

  /** PostgreSQL did not answer last; a look-out tells when it does again. */
  get isAway(): boolean {
    return this.#down || this.#closed;
  }

  async ready(): Promise<Readiness> {
    if (this.isAway) return null;
    // Without traffic nothing else would notice that the database has gone.
    return this.#options.pool.query({ text: 'SELECT 1', query_timeout: PING_TIMEOUT_MS } as pg.QueryConfig).then(
      () => 'database' as const,
      () => null,
    );
  }

  write(halves: readonly Half[]): Promise<WriteResult[]> {
    if (this.#closed) return Promise.reject(new StoreUnavailableError('the service is stopping'));
    if (this.#down) return Promise.reject(new StoreUnavailableError('PostgreSQL is away'));
    if (this.#waiting.length + halves.length > MAX_WAITING) {
      return Promise.reject(new StoreUnavailableError('too many events are waiting', { overloaded: true }));
    }
    if (halves.length === 0) return Promise.resolve([]);
    return new Promise((settle, fail) => {
      const post = new Post(halves.length, settle, fail);
      for (const [position, half] of halves.entries()) this.#waiting.push({ half, post, position });
      this.#pump();
    });
  }

  keep(): Promise<WriteResult[]> {
    return Promise.reject(new StoreUnavailableError('PostgreSQL is away'));
  }

  async read(traceId: string): Promise<RequestRow | null> {
    try {
      const found = await this.#options.pool.query<RequestRow>({
        text: this.#options.statements.read,
        values: [traceId],
        query_timeout: READ_TIMEOUT_MS,
      } as pg.QueryConfig);
      return found.rows[0] ?? null;
    } catch (error) {
      throw new StoreUnavailableError('PostgreSQL did not answer', { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    clearInterval(this.#stallWatch);
    await this.#probing;
    if (this.#flushing !== null) {
      const cut = setTimeout(() => {
        this.#cut = true;
        void this.#disconnect();
      }, CLOSE_PATIENCE_MS);
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
      clearTimeout(cut);
    }
    await this.#disconnect();
  }

  /** What waits is always behind a flush: there is none only when nothing waits. */
  #pump(): void {
    if (this.#flushing === null && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_FLUSH);
      this.#flushing = { batch, sinceMs: Date.now() };
      void this.#run(batch).finally(() => {
        this.#flushing = null;
        this.#pump();
        if (this.#flushing === null) this.#idle?.();
      });
    }
    this.#options.metrics.waitingEvents.set([], this.#waiting.length);
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#commit(batch);
    } catch (error) {
      this.#giveUp(batch, error);
    }
  }

  #giveUp(batch: readonly Waiting[], error: unknown): void {
    this.#markDown(error);
    const unavailable = new StoreUnavailableError('PostgreSQL is away', { cause: error });
    for (const waiting of [...batch, ...this.#waiting.splice(0)]) waiting.post.fail(unavailable);
  }

  /** Those of a flush that stands still are told; it may yet commit, and what it did is then counted as of any other. */
  #lookForStalls(): void {
    const flushing = this.#flushing;
    if (flushing !== null && flushing.sinceMs < Date.now() - STALLED_AFTER_MS)
      this.#giveUp(flushing.batch, new Error('a flush stands still'));
  }

  /** Tries until the batch is durable, a row of it is refused, or it is time to give up. */
  async #commit(batch: readonly Waiting[]): Promise<void> {
    const { metrics, log } = this.#options;
    const halves = batch.map((waiting) => waiting.half);
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      try {
        this.#connection ??= await this.#connect();
        if (this.#unknown.size > 0) await this.#unknown.settle(this.#connection.client);
        await this.#flush(this.#connection, halves);
        for (const { post, position } of batch) post.settle(position, DURABLE);
        if (this.#unknown.size > 0) this.#scheduleProbe();
        return;
      } catch (error) {
        if (error instanceof CommitUnknownError) this.#unknown.add(error);
        const failure = error instanceof CommitUnknownError ? 'connection' : classify(error);
        metrics.flushRetries.inc([failure]);
        // A connection on which something unexpected happened is not trusted again.
        if (failure === 'connection' || failure === 'other') await this.#disconnect();
        else await this.#connection?.client.query('ROLLBACK').catch(() => this.#disconnect());
        if (failure === 'row') return this.#isolate(batch, error);
        log.warn('a flush failed and is tried again', { reason: failure, events: batch.length, error });
        if (failure === 'partition') await ensurePartitions(this.#options.pool);
        if (this.#cut || Date.now() >= giveUpAt) throw error;
        await delay(failure === 'connection' ? RECONNECT_DELAY_MS : RETRY_DELAY_MS * (0.5 + Math.random()));
      }
    }
  }

  #connect(): Promise<WriterConnection> {
    return connectWriter(this.#options.connectionString, this.#options.statements.prepared);
  }

  async #flush(connection: WriterConnection, halves: readonly Half[]): Promise<void> {
    const { statements, expectGateway, metrics, onCommitted } = this.#options;
    const began = performance.now();
    const disturbed = await flush(connection, halves, {
      statements,
      rollupCells: this.#rollupCells,
      rowCache: this.#rowCache,
      expectGateway,
      nearMidnight: isNearMidnight(Date.now(), MIDNIGHT_GUARD_MS),
      contended: Date.now() < this.#contendedUntilMs,
      onCommit: (changes) => {
        for (const { before, after } of changes) onCommitted(before, after);
      },
    });
    if (disturbed) this.#contendedUntilMs = Date.now() + CONTENDED_FOR_MS;
    metrics.commit.observe([], (performance.now() - began) / 1e3);
  }

  /** The schema refused a row that passed the checks: halve the batch until it stands alone; its neighbours are kept. */
  async #isolate(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      const middle = batch.length >> 1;
      await this.#commit(batch.slice(0, middle));
      await this.#commit(batch.slice(middle));
      return;
    }
    const { half, post, position } = batch[0]!;
    this.#options.log.error('PostgreSQL refused an event that passed the checks', { trace_id: half.key, error });
    post.settle(position, { durable: false, rejection: UNSTORABLE });
  }

  #markDown(error: unknown): void {
    if (this.#down || this.#closed) return;
    this.#down = true;
    this.#options.metrics.storeUp.set([], 0);
    this.#options.log.error('PostgreSQL is away', { error });
    this.#scheduleProbe();
  }

  #scheduleProbe(): void {
    if (this.#closed) return;
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => {
      this.#probing = this.#lookForDatabase();
    }, RECONNECT_DELAY_MS);
    this.#probe.unref();
  }

  /** On a connection of its own: the other may be in the middle of something. */
  async #lookForDatabase(): Promise<void> {
    let connection: WriterConnection | null = null;
    try {
      connection = await this.#connect();
      await this.#unknown.settle(connection.client);
      if (this.#down) this.#options.log.info('PostgreSQL is back');
      this.#down = false;
      this.#options.metrics.storeUp.set([], 1);
    } catch {
      // The next look may see more.
    }
    await disconnect(connection?.client ?? null);
    if (this.#down || this.#unknown.size > 0) this.#scheduleProbe();
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await disconnect(connection?.client ?? null);
  }
}

const UNSTORABLE = {
  code: 'unstorable',
  message: 'The database refused this event although it passed the checks; the service log says why.',
} as const;

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
