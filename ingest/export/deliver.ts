import { setTimeout as wait } from 'node:timers/promises';
import type { PostTraces } from './postTraces.ts';

/** What became of one export request. */
export interface Delivery {
  /** Spans that the collector has taken. */
  readonly exported: number;
  readonly dropped: number;
  readonly reason: DropReason | null;
  /** In words, when something was dropped. */
  readonly why: string | null;
}

/** Why spans were not exported: the label of `firsttoken_spans_dropped_total`. */
export type DropReason =
  /** More waited than is kept. */
  | 'queue_full'
  /** The collector will not take them. */
  | 'rejected'
  /** It was away, or said "later", for too long. */
  | 'unreachable'
  /** The service stopped before they were taken. */
  | 'shutdown';

export const DROP_REASONS: readonly DropReason[] = ['queue_full', 'rejected', 'unreachable', 'shutdown'];

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;
/** Longer than a collector takes to restart. Meanwhile the queue takes what comes, and then drops with a reason of its own. */
const GIVE_UP_MS = 60_000;

/** Sooner than it says no collector is asked again; later than this nobody waits for it. */
export interface Patience {
  /** Aborts what is under way, and waits no more. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds after which nothing more is tried; asked again each time, since a stop brings it nearer. */
  deadlineMs(): number;
}

/** Posts one export request until the collector has taken or refused it, or patience ends. Never rejects. */
export async function deliver(post: PostTraces, body: Buffer, spans: number, patience: Patience): Promise<Delivery> {
  const giveUpAtMs = Date.now() + GIVE_UP_MS;
  for (let attempt = 0; ; attempt += 1) {
    if (patience.signal.aborted) return lost(spans, 'shutdown', 'the service is stopping');
    const answer = await post(body, patience.signal);
    if (answer.kind === 'taken') {
      const dropped = Math.min(spans, answer.rejectedSpans);
      return { exported: spans - dropped, dropped, reason: dropped > 0 ? 'rejected' : null, why: answer.why };
    }
    if (answer.kind === 'refused') return lost(spans, 'rejected', answer.why);
    if (patience.signal.aborted) return lost(spans, 'shutdown', answer.why);

    const waitMs = answer.afterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
    const nextAtMs = Date.now() + waitMs;
    if (nextAtMs > giveUpAtMs) return lost(spans, 'unreachable', answer.why);
    await waitUntil(nextAtMs, patience);
    if (nextAtMs > patience.deadlineMs()) return lost(spans, 'shutdown', answer.why);
  }
}

/** In short steps: a deadline that comes nearer ends a wait that cannot lead to another try. */
async function waitUntil(atMs: number, { signal, deadlineMs }: Patience): Promise<void> {
  while (!signal.aborted && Date.now() < atMs && atMs <= deadlineMs()) {
    await wait(Math.min(STEP_MS, atMs - Date.now()), undefined, { signal, ref: false }).catch(() => {});
  }
}
const STEP_MS = 100;

function lost(spans: number, reason: DropReason, why: string): Delivery {
  return { exported: 0, dropped: spans, reason, why };
}
