import { METRICS } from '../../contract/metrics.ts';
import type { Figure } from '../queries/figures.ts';

/** Where a value turns from good to worth a look, and from that to bad. Alerts fire at `bad`. */
export interface Threshold {
  readonly watch: number;
  readonly bad: number;
}

type Histogram = Extract<(typeof METRICS)[keyof typeof METRICS], { type: 'histogram' }>;
interface SecondsThreshold extends Threshold {
  readonly metric: Histogram;
}

/**
 * In seconds, each an edge of the histogram it is held against: a quantile is interpolated between edges, so only at an edge is
 * the comparison exact.
 *
 * TPOT: 0.11 s is the budget of a normal user, beyond 0.25 s a stream is slower than a reader. Gaps: a pause is felt from 0.4 s.
 */
export const SECONDS_THRESHOLDS = {
  ttft_p95: { metric: METRICS.ttft, watch: 0.75, bad: 1 },
  ttft_p999: { metric: METRICS.ttft, watch: 2, bad: 5 },
  ttft_client_p95: { metric: METRICS.ttftClient, watch: 1, bad: 2 },
  tpot_p90: { metric: METRICS.tpot, watch: 0.11, bad: 0.25 },
  tpot_stddev: { metric: METRICS.tpotStddev, watch: 0.01, bad: 0.015 },
  stream_gap_max: { metric: METRICS.streamGapMax, watch: 0.4, bad: 2 },
} as const satisfies Partial<Record<Figure, SecondsThreshold>>;

/**
 * Shares from 0 to 1. A p95 over 1 s is the same as more than 5 % of the requests over 1 s, which has its alert; `bad` is for when
 * it is twice as many.
 */
export const RATIO_THRESHOLDS = {
  ttft_over_1s_ratio: { watch: 0.05, bad: 0.1 },
  ttft_over_2s_ratio: { watch: 0.01, bad: 0.02 },
} as const satisfies Partial<Record<Figure, Threshold>>;

/** Requests of the last hour below which a p95 rests on a handful of samples; quiet hours stay quiet. */
export const MIN_REQUESTS_PER_HOUR = 100;

/** Where readers stand, seconds per token: a reader's pace lies between the first two, from the last on the text stutters. */
export const READING_SECONDS = { paceFrom: 0.2, paceTo: 0.3, stuttersFrom: 0.4 } as const;

/** When a variant's figures speak against quantising it; milliseconds of the client TTFT p95 and of the TPOT p90. */
export const VARIANT_VERDICT_MS = { ttft: 500, slowTtft: 800, tpot: 100 } as const;

/** A GPU that is busy less than this waits for its host. */
export const IDLE_GPU_PERCENT = 30;

/** Share from 0 to 1 of the requests that are joined; here `bad` is below `watch`. */
export const COVERAGE_THRESHOLD = { watch: 0.95, bad: 0.9 } as const satisfies Threshold;

/** Seconds per token that each tier was promised; edges of tpot_seconds. */
export const TPOT_BUDGET_SECONDS = { vip: 0.08, normal: 0.11 } as const;

/** The client's first token within this is what we aim at; its pace over the first 20 tokens may be one and a half times as slow a token. */
export const TTFT_TARGET_SECONDS = 0.5;
export const TPOT_FIRST20_SECONDS = 1.5 * TTFT_TARGET_SECONDS;

/** Standard deviation of the worst ten neighbouring gaps of a stream, in seconds. */
export const WINDOW10_STDDEV_SECONDS = 0.05;

/** How far the p99 of TPOT may lie above its p50. */
export const TPOT_TAIL_RATIO = 2.5;

/**
 * The objective: over 30 days this share of the requests has its first token within these seconds. Its burn is the share that had
 * not, divided by what the objective leaves: 14.4 for an hour uses up 2 % of the month, 6 for six hours 5 %.
 */
export const TTFT_OBJECTIVE = { share: 0.99, withinSeconds: 2 } as const;
export const BURN = { fast: 14.4, slow: 6 } as const;
