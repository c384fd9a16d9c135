import type { Half } from '../pipeline/half.ts';
import type { WriteResult } from './store.ts';

export const DURABLE: WriteResult = { durable: true };

/** A half of a post that waits to be written. */
export interface Waiting {
  readonly half: Half;
  readonly post: Post;
  readonly position: number;
}

/** Some halves that were written together: answered when the last of them is durable or refused, or at once when one fails. One promise for all of them. */
export class Post {
  readonly #results: WriteResult[];
  readonly #settle: (results: WriteResult[]) => void;
  readonly fail: (error: Error) => void;
  #open: number;

  constructor(halves: number, settle: (results: WriteResult[]) => void, fail: (error: Error) => void) {
    this.#results = new Array<WriteResult>(halves).fill(DURABLE);
    this.#settle = settle;
    this.fail = fail;
    this.#open = halves;
  }

  settle(position: number, result: WriteResult): void {
    this.#results[position] = result;
    this.#open -= 1;
    if (this.#open === 0) this.#settle(this.#results);
  }
}
