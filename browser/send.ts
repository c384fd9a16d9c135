import type { Beacon } from '../contract/beacon.ts';

/** Something that has news to tell now and then. */
export interface Reporter {
  /** There is something that no beacon has said. The sender clears it when a beacon is under way, and sets it when that fails. */
  changed: boolean;
  /** Makes the beacon of this moment. */
  build(): Beacon;
}

export interface Sender<R extends Reporter> {
  /** Sends the reporter's news soon, together with others'. */
  add(reporter: R, endpoint: string): void;
  /** Sends all that waits, now. `leaving`: the page may never run again. Resolves when all was tried once. */
  flush(leaving?: boolean): Promise<void>;
}

/**
 * Bytes of one post. A page has 64 KiB for all that is under way when it closes, whoever sent it: beacons, keepalive requests,
 * other libraries'.
 * @see https://fetch.spec.whatwg.org/#http-network-or-cache-fetch (keepalive)
 */
const MAX_POST_BYTES = 60_000;
/** What waits for an ingest that is away; then the oldest is dropped. */
const MAX_WAITING = 200;
const BATCH_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/**
 * Sends beacons in batches, each piece of news once, and keeps what could not be sent. Nothing here throws.
 *
 * @param onUnwanted called when the ingest answers 410: it wants nothing until the page reloads
 */
export function createSender<R extends Reporter>(onUnwanted: () => void): Sender<R> {
  const waiting = new Set<R>();
  let endpoint = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let silent = false;

  const add = (reporter: R): void => {
    if (silent || !reporter.changed) return;
    waiting.add(reporter);
    for (const oldest of waiting) if (waiting.size > MAX_WAITING) waiting.delete(oldest);
    schedule();
  };

  const schedule = (atLeastMs = BATCH_MS): void => {
    if (timer !== undefined) return;
    timer = setTimeout(flush, Math.max(atLeastMs, Math.min(BATCH_MS * 2 ** failures, MAX_RETRY_MS)));
    // Outside a browser a process must be able to end; `flush()` is there for its last beacons.
    (timer as { unref?: () => void }).unref?.();
  };

  const post = async (taken: R[], body: string, keepalive: boolean): Promise<void> => {
    let waitMs: number | undefined;
    try {
      // A string goes as text/plain, which needs no preflight.
      const response = await fetch(endpoint, { method: 'POST', body, keepalive });
      const { status, headers } = response;
      // Until its answer is read, a post counts as under way, and its bytes against the budget.
      response.text().catch(() => {});
      if (status === 410) {
        silent = true;
        waiting.clear();
        onUnwanted();
      }
      if (status < 500 && status !== 429) {
        failures = 0;
        return;
      }
      waitMs = Number(headers.get('retry-after')) * 1_000 || undefined;
    } catch {
      // No answer: nobody knows whether it arrived. A second one with a higher `seq` counts nothing twice.
    }
    failures++;
    schedule(waitMs);
    for (const reporter of taken) {
      reporter.changed = true;
      add(reporter);
    }
  };

  const takeBatch = (): { taken: R[]; body: string; bytes: number } => {
    const taken: R[] = [];
    let body = '';
    let bytes = 0;
    for (const reporter of waiting) {
      if (reporter.changed) {
        const line = `${JSON.stringify(reporter.build())}\n`;
        // The budget counts bytes, and a route may be written in any script.
        const lineBytes = new TextEncoder().encode(line).length;
        if (body !== '' && bytes + lineBytes > MAX_POST_BYTES) break;
        reporter.changed = false;
        taken.push(reporter);
        body += line;
        bytes += lineBytes;
      }
      waiting.delete(reporter);
    }
    return { taken, body, bytes };
  };

  const flush = async (leaving: unknown): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const posts: Promise<void>[] = [];
    let keepalive = leaving !== true && failures === 0;
    while (waiting.size > 0) {
      const { taken, body, bytes } = takeBatch();
      if (body === '' || (leaving === true && sendBeacon(endpoint, body))) continue;
      // Within the budget a post outlives its page. Once it is refused, others have spent it: the next try does without.
      posts.push(post(taken, body, keepalive && bytes <= MAX_POST_BYTES));
      keepalive = false;
    }
    await Promise.all(posts);
  };

  return {
    add(reporter, to) {
      endpoint = to;
      add(reporter);
    },
    flush,
  };
}

/** False means not sent. */
function sendBeacon(url: string, body: string): boolean {
  try {
    return navigator.sendBeacon(url, body);
  } catch {
    // Removed by an extension, say.
    return false;
  }
}
