import type { RequestRow } from '../pipeline/row.ts';

/** Requests that wait for their other half: ten seconds of a few thousand a second. About a kilobyte each. */
const MAX_ROWS = 32_768;

interface Entry {
  readonly row: RequestRow;
  /** Number of the transaction that wrote it, as the column `xmin` shows it. */
  readonly xmin: number;
}

/**
 * Rows as this process has committed them. A row in the database that was written by the same transaction is the same row, so that its
 * 66 columns need not be read again; one that somebody else has changed since carries another number and is read.
 */
export class RowCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxRows: number;

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  /** @param xmin what the row in the database shows, which must be locked */
  find(key: string, day: string, xmin: number): RequestRow | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.xmin === xmin && entry.row.day === day ? entry.row : undefined;
  }

  /** @param row as committed. A settled one hardly ever gets another half. */
  keep(row: RequestRow, xmin: number): void {
    // Taken out first, so that the oldest stand first.
    this.#entries.delete(row.trace_id);
    if (row.settled) return;
    if (this.#entries.size >= this.#maxRows) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(row.trace_id, { row: { ...row, arrivals_ms: null, chunk_tokens: null }, xmin });
  }
}

/** @param xid number of a transaction with its epoch, as text */
export function xminOf(xid: string): number {
  return Number(BigInt.asUintN(32, BigInt(xid)));
}
