import { FLAG_BITS } from '../../contract/flags.ts';
import { SPAN_STAGES, type SpanStage } from '../../contract/spans.ts';
import type { RequestRow } from '../pipeline/row.ts';

/** One known stage inside its request. Nanoseconds from the root's start. */
export interface PlacedStage {
  readonly stage: SpanStage;
  readonly offsetNs: number;
  readonly lengthNs: number;
  /** Came out below zero, and is shown with no length. */
  readonly clamped: boolean;
}

export interface PlacedRequest {
  readonly rootLengthNs: number;
  /** The reported end lies before the first token, or before the start. */
  readonly rootClamped: boolean;
  readonly stages: readonly PlacedStage[];
}

/**
 * Lays the known stages of a request back to back, in their order, from the root's start. Their lengths were measured, each by one
 * monotonic clock; where they lie is inferred, since no two wall clocks agree well enough to say. So nothing is moved by a
 * clock, and nothing is cut: where the two accounts contradict each other, stages may reach beyond the root.
 *
 * The root ends with the stream. Where no client said when that was, it ends with whatever is known to have come last.
 */
export function placeStages(row: RequestRow): PlacedRequest {
  const contradicted = (row.flags & FLAG_BITS.clock_anomaly) !== 0;
  const stages: PlacedStage[] = [];
  let offsetNs = 0;
  for (const stage of SPAN_STAGES) {
    const durationNs = row[`${stage}_ns`];
    if (durationNs === null) continue;
    const lengthNs = Math.max(0, durationNs);
    const clamped = durationNs < 0 || (contradicted && stage === 'network');
    stages.push({ stage, offsetNs, lengthNs, clamped });
    offsetNs += lengthNs;
  }
  const firstTokenNs = Math.max(0, nanoseconds(row.ttft_ms) ?? 0);
  const endNs = nanoseconds(row.end_ms);
  if (endNs === null) {
    const lastNs = Math.max(firstTokenNs, nanoseconds(row.gateway_request_ms) ?? 0, offsetNs);
    return { rootLengthNs: lastNs, rootClamped: false, stages };
  }
  return { rootLengthNs: Math.max(firstTokenNs, endNs), rootClamped: endNs < firstTokenNs, stages };
}

/** Stages that a row knows; each is a span. With `before` only those that it did not know yet. */
export function countStages(row: RequestRow, before: RequestRow | null = null): number {
  let count = 0;
  for (const stage of SPAN_STAGES) {
    if (row[`${stage}_ns`] !== null && (before === null || before[`${stage}_ns`] === null)) count += 1;
  }
  return count;
}

function nanoseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1e6);
}
