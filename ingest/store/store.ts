import type { Rejection } from '../../contract/rejections.ts';
import type { Half } from '../pipeline/half.ts';
import type { RequestRow } from '../pipeline/row.ts';

/** What became of one half: durable, or refused by the store alone. */
export type WriteResult = { readonly durable: true } | { readonly durable: false; readonly rejection: Rejection };

/** Null: a write would be refused. */
export type Readiness = 'database' | 'spooling' | null;

/**
 * Where the halves of requests meet.
 *
 * - Ordering: halves of one request are joined in the order in which they were written; between requests there is none.
 * - Durability: when `write` resolves with `durable`, the half is committed, or on disk. It rejects with {@link StoreUnavailableError} when that
 *   is not certain; writing the half again is always safe.
 * - Ownership: the caller must not change halves after handing them over.
 * - Shutdown: `close` waits for what was handed over, then refuses.
 */
export interface Store {
  write(halves: readonly Half[]): Promise<WriteResult[]>;
  /** Makes halves durable without the database, whose labels could not be screened; they are screened and written later. */
  keep(halves: readonly Half[]): Promise<WriteResult[]>;
  /** The joined row, or null; looks in all kept days. */
  read(traceId: string): Promise<RequestRow | null>;
  /** Where a write would go now; asks the database, for two seconds or so. */
  ready(): Promise<Readiness>;
  close(): Promise<void>;
}

/** Called after each commit, once for each row that it changed: the row as it was before, and as it is now. */
export type OnCommitted = (before: RequestRow | null, after: RequestRow) => void;

/** PostgreSQL is away, or more waits for it than can be kept. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** The database is there, and more has come at once than it can take. */
  readonly overloaded: boolean;

  constructor(message: string, options: ErrorOptions & { readonly overloaded?: boolean } = {}) {
    super(message, options);
    this.overloaded = options.overloaded ?? false;
  }
}
