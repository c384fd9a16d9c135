import { MAX_EXEMPLAR_CHARACTERS } from '../../contract/limits.ts';
import { escapeLabelValue } from './exposition.ts';

/** The one label of our exemplars: what Grafana's data source turns into a link. */
const EXEMPLAR_LABEL = 'trace_id';
const MAX_TRACE_ID_CHARACTERS = MAX_EXEMPLAR_CHARACTERS - EXEMPLAR_LABEL.length;

interface Exemplar {
  traceId: string;
  valueSeconds: number;
  atMs: number;
}

/** The latest trace of each bucket of one label set. */
export class BucketExemplars {
  readonly #byBucket: (Exemplar | undefined)[] = [];

  /**
   * Takes the id if it fits an exemplar. OpenMetrics sets the limit, and a reader may refuse a whole scrape over one that is too
   * long, so nothing longer is ever kept. UTF-16 units are counted, of which there are never fewer than characters.
   */
  keep(bucket: number, traceId: string, valueSeconds: number): void {
    if (traceId.length === 0 || traceId.length > MAX_TRACE_ID_CHARACTERS) return;
    const kept = this.#byBucket[bucket];
    if (!kept) {
      this.#byBucket[bucket] = { traceId, valueSeconds, atMs: Date.now() };
      return;
    }
    kept.traceId = traceId;
    kept.valueSeconds = valueSeconds;
    kept.atMs = Date.now();
  }

  /** What follows a bucket's count in OpenMetrics: ` # {trace_id="…"} 0.41 1764547200.123`, or nothing. */
  print(bucket: number): string {
    const kept = this.#byBucket[bucket];
    if (!kept) return '';
    return ` # {${EXEMPLAR_LABEL}="${escapeLabelValue(kept.traceId)}"} ${kept.valueSeconds} ${kept.atMs / 1000}`;
  }
}
