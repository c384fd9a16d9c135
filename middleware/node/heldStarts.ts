/** A start of a response that waits for its first chunk. */
export interface HeldStart {
  /** It has waited long enough: it leaves with what it has. Never throws. */
  release(): void;
}

/**
 * Releases starts that have waited for a given time. Nearly all leave within the same turn, so they share one timer, which looks at
 * those that are left; it keeps no process alive.
 */
export class HeldStarts {
  readonly #holdMs: number;
  /** Since when each waits, oldest first. */
  readonly #since = new Map<HeldStart, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(holdMs: number) {
    this.#holdMs = holdMs;
  }

  add(start: HeldStart): void {
    this.#since.set(start, performance.now());
    if (this.#timer === undefined) this.#wait(this.#holdMs);
  }

  remove(start: HeldStart): void {
    this.#since.delete(start);
  }

  #wait(waitMs: number): void {
    this.#timer = setTimeout(() => this.#releaseDue(), waitMs).unref();
  }

  #releaseDue(): void {
    this.#timer = undefined;
    for (const [start, since] of this.#since) {
      const leftMs = since + this.#holdMs - performance.now();
      if (leftMs > 0) return this.#wait(leftMs);
      this.#since.delete(start);
      start.release();
    }
  }
}

const byHoldMs = new Map<number, HeldStarts>();

/** Those that wait for so long; all middleware of a process shares them. */
export function heldStarts(holdMs: number): HeldStarts {
  const known = byHoldMs.get(holdMs);
  if (known) return known;
  const held = new HeldStarts(holdMs);
  byHoldMs.set(holdMs, held);
  return held;
}
