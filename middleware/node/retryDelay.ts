const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** A server that asks for more than this is asked again sooner: the queue is bounded, and waiting loses records. */
const LONGEST_ASKED_MS = 300_000;

/**
 * How long to wait before the next attempt: doubling from half a second to half a minute, of which the upper half is random, so
 * that many processes do not come back at once; or what the server asked for, and a little.
 *
 * @param failures how often the batch failed so far, from 1
 * @param retryAfter the `Retry-After` header: seconds or an HTTP date
 * @returns milliseconds
 */
export function retryDelayMs(
  failures: number,
  retryAfter?: string,
  nowMs = Date.now(),
  random = Math.random(),
): number {
  const doubledMs = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
  const askedMs = retryAfter === undefined ? undefined : readRetryAfterMs(retryAfter, nowMs);
  if (askedMs === undefined) return doubledMs * (0.5 + random / 2);
  return Math.min(askedMs, LONGEST_ASKED_MS) + (FIRST_MS / 2) * random;
}

function readRetryAfterMs(text: string, nowMs: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(dateMs - nowMs, 0);
}
