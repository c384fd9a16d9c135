import type { ServerRecord } from '../../contract/serverRecord.ts';
import { createPoster } from './postRecords.ts';
import { retryDelayMs } from './retryDelay.ts';
import { warnOnce } from './warnings.ts';

/** Counts of records. All but `waiting` only rise. */
export interface SenderStats {
  /** Taken by the ingest. */
  readonly sent: number;
  /** Given up here: the queue was full (the oldest goes first), or the sender was closed. */
  readonly dropped: number;
  /** Refused by the ingest for good. */
  readonly failed: number;
  /** Queued or under way. */
  readonly waiting: number;
}

export interface Sender {
  readonly stats: SenderStats;
  /** Queues a record. Returns at once and never throws. */
  send(record: ServerRecord): void;
  /** Sends what waits, for at most `deadlineMs`, then drops the rest. Later records are dropped. */
  close(deadlineMs?: number): Promise<void>;
}

export interface SenderSettings {
  /** The ingest's base URL, http or https. */
  readonly ingestUrl: string;
  readonly token?: string | undefined;
  /** Records that may wait. */
  readonly maxWaiting?: number;
  /** How long a record may wait for others to share its post, milliseconds. */
  readonly gatherMs?: number;
  /** For one post, milliseconds: the ingest answers only when the batch is durable. */
  readonly timeoutMs?: number;
  /** See {@link retryDelayMs}. */
  readonly retryMs?: (failures: number, retryAfter: string | undefined) => number;
}

const MAX_POST_RECORDS = 500;
const MAX_POST_BYTES = 524_288;
const CLOSE_DEADLINE_MS = 5_000;

/**
 * Posts records in the background, one batch at a time, until the ingest has them or refuses them. Its timers and sockets keep no
 * process alive; `close()` does, for as long as it takes.
 *
 * @throws TypeError when `ingestUrl` is no http or https URL
 */
export function createSender(settings: SenderSettings): Sender {
  const { maxWaiting = 10_000, gatherMs = 1_000, timeoutMs = 10_000, retryMs = retryDelayMs } = settings;
  const poster = createPoster(serverTimingsUrl(settings.ingestUrl), settings.token, timeoutMs);
  const stats = { sent: 0, dropped: 0, failed: 0, waiting: 0 };
  const queue: string[] = [];
  const giveUp = new AbortController();
  let batch: string[] = [];
  let failures = 0;
  let posting = false;
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  let onIdle: (() => void) | undefined;

  const wait = (delayMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(postBatch, delayMs).unref();
  };

  const takeBatch = (): string[] => {
    let bytes = 0;
    let records = 0;
    while (records < Math.min(queue.length, MAX_POST_RECORDS)) {
      bytes += Buffer.byteLength(queue[records]!);
      if (records > 0 && bytes > MAX_POST_BYTES) break;
      records++;
    }
    return queue.splice(0, records);
  };

  async function postBatch(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (posting) return;
    if (batch.length === 0) batch = takeBatch();
    if (batch.length === 0) {
      onIdle?.();
      return;
    }
    posting = true;
    const outcome = await poster.post(batch.join(''), giveUp.signal);
    posting = false;
    if (giveUp.signal.aborted) return;
    if (outcome.kind === 'retry') {
      failures++;
      warnOnce(
        'ingest_unreachable',
        `firsttoken: the ingest takes no server timings (${outcome.reason}); trying again`,
      );
      wait(retryMs(failures, outcome.retryAfter));
      return;
    }
    const refused = outcome.kind === 'refused' ? batch.length : Math.min(outcome.rejected, batch.length);
    if (refused > 0) {
      const why = outcome.kind === 'refused' ? `status ${outcome.status}` : 'its log says which';
      warnOnce('ingest_refused', `firsttoken: the ingest refused ${refused} server timings (${why})`);
    }
    stats.failed += refused;
    stats.sent += batch.length - refused;
    stats.waiting -= batch.length;
    batch = [];
    failures = 0;
    wait(closing || queue.length >= MAX_POST_RECORDS ? 0 : gatherMs);
  }

  return {
    stats,
    send(record) {
      if (closing) {
        stats.dropped++;
        return;
      }
      queue.push(`${JSON.stringify(record)}\n`);
      stats.waiting++;
      if (stats.waiting > maxWaiting) {
        // What is under way cannot be taken back; of the rest, the newest tells most about the present.
        queue.shift();
        stats.waiting--;
        stats.dropped++;
        warnOnce('queue_full', 'firsttoken: server timings are dropped, the ingest does not keep up');
      }
      if (posting || batch.length > 0) return;
      if (queue.length >= MAX_POST_RECORDS) wait(0);
      else if (timer === undefined) wait(gatherMs);
    },
    async close(deadlineMs = CLOSE_DEADLINE_MS) {
      closing = true;
      if (giveUp.signal.aborted) return;
      const idle = new Promise<void>((resolve) => {
        const before = onIdle;
        onIdle = () => {
          before?.();
          resolve();
        };
      });
      // Not unref'd: it keeps the process alive until the queue is empty.
      const deadline = setTimeout(() => {
        giveUp.abort();
        stats.dropped += stats.waiting;
        stats.waiting = 0;
        queue.length = batch.length = 0;
        onIdle?.();
      }, deadlineMs);
      wait(0);
      await idle;
      clearTimeout(deadline);
      clearTimeout(timer);
      poster.close();
    },
  };
}

function serverTimingsUrl(ingestUrl: string): URL {
  const base = URL.canParse(ingestUrl) ? new URL(ingestUrl) : undefined;
  if (base?.protocol !== 'http:' && base?.protocol !== 'https:')
    throw new TypeError('ingestUrl must be an http or https URL');
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/v1/server-timings`;
  return base;
}
