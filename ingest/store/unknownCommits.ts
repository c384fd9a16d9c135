import type pg from 'pg';
import type { Change, CommitUnknownError } from './flush.ts';
import { classify } from './sqlState.ts';

/**
 * Commits whose answer was lost with their connection. Whether they took place only the database knows; once it says so, what they
 * did is counted, however long that takes: the post that brought them may have been refused long before, and its repetition will
 * find its rows already there.
 */
export class UnknownCommits {
  readonly #onCommitted: (changes: readonly Change[]) => void;
  #waiting: CommitUnknownError[] = [];

  constructor(onCommitted: (changes: readonly Change[]) => void) {
    this.#onCommitted = onCommitted;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(lost: CommitUnknownError): void {
    if (lost.changes.length > 0) this.#waiting.push(lost);
  }

  /** Asks what became of them; those still in progress on the server stay. @throws when the connection does not answer */
  async settle(client: pg.ClientBase): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    for (const [position, lost] of asked.entries()) {
      try {
        const status = await statusOf(client, lost.xid);
        if (status === 'committed') this.#onCommitted(lost.changes);
        else if (status === 'in progress') this.#waiting.push(lost);
      } catch (error) {
        this.#waiting.push(...asked.slice(position));
        throw error;
      }
    }
  }
}

async function statusOf(client: pg.ClientBase, xid: string): Promise<string | null> {
  try {
    const answer = await client.query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [xid]);
    return answer.rows[0]?.status ?? null;
  } catch (error) {
    // A crash can forget a number that was never used for anything durable.
    if (classify(error) === 'row') return null;
    throw error;
  }
}
