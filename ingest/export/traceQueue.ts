import type { RequestRow } from '../pipeline/row.ts';

/** One request whose spans wait to be exported. */
export interface WaitingTrace {
  readonly row: RequestRow;
  /** As it was exported before; then only the children that it lacked are due. Null: all of it. */
  readonly before: RequestRow | null;
  readonly spans: number;
  /** Slow or failed: goes first, and stays when there is no room. */
  readonly notable: boolean;
}

/**
 * What waits for the collector, bounded in spans. Rows wait and not their text, which is several times larger and would be made in
 * vain for what is dropped.
 */
export class TraceQueue {
  readonly #maxSpans: number;
  readonly #notable = new Fifo();
  readonly #ordinary = new Fifo();
  #spans = 0;

  constructor(maxSpans: number) {
    this.#maxSpans = maxSpans;
  }

  /** Spans that wait. */
  get spans(): number {
    return this.#spans;
  }

  /** Takes a trace in; where there is no room, a notable one displaces ordinary ones. @returns spans that were dropped */
  push(trace: WaitingTrace): number {
    let dropped = 0;
    while (trace.notable && this.#spans + trace.spans > this.#maxSpans) {
      const displaced = this.#ordinary.shift();
      if (displaced === undefined) break;
      this.#spans -= displaced.spans;
      dropped += displaced.spans;
    }
    if (this.#spans + trace.spans > this.#maxSpans) return dropped + trace.spans;
    (trace.notable ? this.#notable : this.#ordinary).push(trace);
    this.#spans += trace.spans;
    return dropped;
  }

  /** The next traces, notable ones first, of about so many spans. */
  take(spans: number): WaitingTrace[] {
    const taken: WaitingTrace[] = [];
    let left = spans;
    while (left > 0) {
      const next = this.#notable.shift() ?? this.#ordinary.shift();
      if (next === undefined) break;
      taken.push(next);
      left -= next.spans;
    }
    this.#spans -= spansOf(taken);
    return taken;
  }
}

export function spansOf(traces: readonly WaitingTrace[]): number {
  return traces.reduce((sum, trace) => sum + trace.spans, 0);
}

/** An array's own `shift` moves everything behind it. */
class Fifo {
  #items: (WaitingTrace | undefined)[] = [];
  #head = 0;

  push(item: WaitingTrace): void {
    this.#items.push(item);
  }

  shift(): WaitingTrace | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#items[this.#head++] = undefined;
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
