import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Asks again and again until the answer is there.
 *
 * @param ask gives what is waited for, or undefined or false while it is not there; an error counts as not there
 * @throws after `withinMs`, with the last error as its cause
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 15_000,
): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  let cause: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs} ms in vain: ${what}`, { cause });
    await wait(POLL_MS);
  }
}
