import type { Log } from '../log.ts';
import type { RequestRow } from '../pipeline/row.ts';
import type { Metrics } from '../registry.ts';
import { type Delivery, DROP_REASONS, type DropReason, deliver, type Patience } from './deliver.ts';
import { encodeRequest, encodeTrace } from './encodeTrace.ts';
import { isNotable } from './failure.ts';
import { countStages } from './placeStages.ts';
import type { TracesPoster } from './postTraces.ts';
import { isSampled } from './sampling.ts';
import { spansOf, TraceQueue, type WaitingTrace } from './traceQueue.ts';

/** About ten thousand requests, some tens of megabytes. */
const MAX_WAITING_SPANS = 100_000;
/** Spans of one export request: a millisecond or two of work, after which others get their turn. */
const BATCH_SPANS = 512;
/** Requests under way at a time: the way to a collector is longer than its work. */
const MAX_SENDS = 4;
/** How long a trace waits for others to go with it. */
const GATHER_MS = 1_000;

export interface TraceExporterOptions {
  readonly poster: TracesPoster;
  /** Share of traces that are exported, 0 to 1. */
  readonly sampleRate: number;
  readonly metrics: Pick<Metrics, 'spansExported' | 'spansDropped' | 'waitingSpans'>;
  readonly log: Log;
  readonly maxWaitingSpans?: number;
}

/**
 * Exports each request once as a trace, when it settles; a half that comes later adds the children that it brought.
 *
 * - Never in the way: `take` only puts a row into a bounded queue. Everything else happens in between, in small pieces.
 * - Every span is accounted for: exported, dropped with a reason, or waiting.
 * - What a killed process had waiting is not lost: the rows are in the store, and main.ts exports them again under the same ids.
 */
export class TraceExporter {
  readonly #options: TraceExporterOptions;
  readonly #queue: TraceQueue;
  readonly #abort = new AbortController();
  readonly #patience: Patience = { signal: this.#abort.signal, deadlineMs: () => this.#deadlineMs };
  readonly #dropped = new Map<DropReason, number>();
  #exported = 0;
  #sending = 0;
  #sendingSpans = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #closed = false;
  #failing = false;
  #timer: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;

  constructor(options: TraceExporterOptions) {
    this.#options = options;
    this.#queue = new TraceQueue(options.maxWaitingSpans ?? MAX_WAITING_SPANS);
    options.metrics.spansExported.inc([], 0);
    for (const reason of DROP_REASONS) options.metrics.spansDropped.inc([reason], 0);
    this.#showWaiting();
  }

  /** Whether the trace of this request is exported, as far as sampling decides. */
  exports(traceId: string): boolean {
    return isSampled(traceId, this.#options.sampleRate);
  }

  /** Told of every committed change; takes what has settled with it, and what a settled request has gained. */
  take(before: RequestRow | null, after: RequestRow): void {
    if (!after.settled || !this.exports(after.trace_id)) return;
    const earlier = before?.settled ? before : null;
    const spans = countStages(after, earlier) + (earlier === null ? 1 : 0);
    if (spans === 0) return;
    if (this.#closed) return this.#drop(spans, 'shutdown');
    // The lists are long, and no span has them.
    const row = { ...after, arrivals_ms: null, chunk_tokens: null };
    this.#drop(this.#queue.push({ row, before: earlier, spans, notable: isNotable(after) }), 'queue_full');
    this.#showWaiting();
    this.#pump();
  }

  /**
   * Sends what waits, until `deadlineMs` from now; the rest is dropped and counted. What was under way then may have arrived: it
   * counts as dropped, and a second export would repeat it.
   */
  async close(deadlineMs: number): Promise<void> {
    this.#deadlineMs = Date.now() + deadlineMs;
    const cut = setTimeout(() => this.#abort.abort(), deadlineMs);
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#sendWaiting(1);
    if (this.#sending > 0 || this.#queue.spans > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    clearTimeout(cut);
    this.#options.poster.close();
    const { log } = this.#options;
    const facts = { exported_spans: this.#exported, dropped_spans: Object.fromEntries(this.#dropped) };
    if (this.#dropped.size > 0) log.warn('traces were flushed; not all were exported', facts);
    else log.info('traces were flushed', facts);
  }

  /** Full batches go at once, what is left when it has waited for others. */
  #pump(): void {
    this.#sendWaiting(this.#closed ? 1 : BATCH_SPANS);
    if (this.#closed || this.#queue.spans === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sendWaiting(1);
    }, GATHER_MS).unref();
  }

  #sendWaiting(atLeastSpans: number): void {
    while (this.#sending < MAX_SENDS && this.#queue.spans >= atLeastSpans) {
      const batch = this.#queue.take(BATCH_SPANS);
      const spans = spansOf(batch);
      this.#sending += 1;
      this.#sendingSpans += spans;
      void this.#send(batch, spans).finally(() => {
        this.#sending -= 1;
        this.#sendingSpans -= spans;
        this.#pump();
        this.#showWaiting();
        if (this.#sending === 0 && this.#queue.spans === 0) this.#idle?.();
      });
    }
  }

  async #send(batch: readonly WaitingTrace[], spans: number): Promise<void> {
    // Not in the same turn as the commit that filled the batch: whoever waits for that commit is answered first.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#abort.signal.aborted) return this.#drop(spans, 'shutdown');
    try {
      const traces = batch.map(({ row, before }) => encodeTrace(row, before));
      this.#account(await deliver(this.#options.poster.post, encodeRequest(traces), spans, this.#patience));
    } catch (error) {
      this.#options.log.error('traces could not be written', { error });
      this.#drop(spans, 'rejected');
    }
  }

  #account({ exported, dropped, reason, why }: Delivery): void {
    const { metrics, log } = this.#options;
    this.#exported += exported;
    metrics.spansExported.inc([], exported);
    if (reason !== null) this.#drop(dropped, reason);
    // One line when it begins, one when it is over.
    if (reason !== null && !this.#failing) log.warn('traces are not exported', { reason, why });
    if (reason === null && this.#failing) log.info('traces are exported again');
    this.#failing = reason !== null;
  }

  #drop(spans: number, reason: DropReason): void {
    if (spans === 0) return;
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + spans);
    this.#options.metrics.spansDropped.inc([reason], spans);
  }

  #showWaiting(): void {
    this.#options.metrics.waitingSpans.set([], this.#queue.spans + this.#sendingSpans);
  }
}
