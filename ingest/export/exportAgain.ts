import type pg from 'pg';
import { deliver, type Patience } from './deliver.ts';
import { encodeRequest, encodeTrace } from './encodeTrace.ts';
import { countStages } from './placeStages.ts';
import type { PostTraces } from './postTraces.ts';
import { forEachPageSince } from './rowsSince.ts';
import { isSampled } from './sampling.ts';

const BATCH_REQUESTS = 64;
/** Nobody waits behind this, so a collector that is away is waited for as long as one delivery does. */
const PATIENT: Patience = { signal: new AbortController().signal, deadlineMs: () => Number.POSITIVE_INFINITY };

export interface ExportedAgain {
  /** Settled requests that are sampled and were sent. */
  readonly requests: number;
  readonly exportedSpans: number;
  readonly droppedSpans: number;
  /** The collector's words at the last drop. */
  readonly why: string | null;
}

/**
 * Exports what the store holds since a moment. Span ids come from the requests, so what the collector has already it gets again
 * instead of twice. Ends with the first batch that a collector did not take in time: further ones would fare no better.
 */
export async function exportAgain(
  pool: pg.Pool,
  post: PostTraces,
  sinceMs: number,
  sampleRate: number,
): Promise<ExportedAgain> {
  const done = { requests: 0, exportedSpans: 0, droppedSpans: 0, why: null as string | null };
  await forEachPageSince(pool, sinceMs, async (page) => {
    const rows = page.filter((row) => isSampled(row.trace_id, sampleRate));
    for (let at = 0; at < rows.length; at += BATCH_REQUESTS) {
      const batch = rows.slice(at, at + BATCH_REQUESTS);
      const spans = batch.reduce((sum, row) => sum + 1 + countStages(row), 0);
      const delivery = await deliver(post, encodeRequest(batch.map((row) => encodeTrace(row))), spans, PATIENT);
      done.requests += batch.length;
      done.exportedSpans += delivery.exported;
      done.droppedSpans += delivery.dropped;
      if (delivery.dropped > 0) done.why = delivery.why;
      if (delivery.reason === 'unreachable') return false;
    }
    return true;
  });
  return done;
}
