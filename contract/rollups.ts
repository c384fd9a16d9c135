import { STAGES } from './stages.ts';

/**
 * Rollups: histograms kept by hour and by day, so that a percentile over weeks reads thousands of lines and not millions of
 * requests. Histograms of any hours and dimensions add up, and every percentile of the sum is within 1 % of the exact one.
 *
 * Buckets are logarithmic: each is 2 % wide, and stands for the value from which both of its edges are equally far, relatively
 * (the scheme of DDSketch, https://arxiv.org/abs/1908.10693). Everything is in milliseconds.
 */

/** Upper edge of a bucket divided by its lower edge. */
const GAMMA = 1.02;
/** Below a microsecond nothing is told apart: bucket 0. */
const FIRST_EDGE_MS = 0.001;
/** One day, the longest duration that any metric can have. */
const LAST_EDGE_MS = 86_400_000;

/**
 * Lower edges of the buckets from 1 on. Multiplied step by step, which IEEE 754 fixes to the last bit: logarithms and powers differ
 * between engines, and what one process adds another has to find in the same bucket to take it away.
 */
const EDGES_MS: readonly number[] = (() => {
  const edges: number[] = [];
  for (let edge = FIRST_EDGE_MS; edge < LAST_EDGE_MS; edge *= GAMMA) edges.push(edge);
  return edges;
})();

/** Durations of a day and more are in the last bucket. */
export const LAST_BUCKET = EDGES_MS.length;

/** Buckets per natural logarithm. */
const DENSITY = 1 / Math.log(GAMMA);

/** The bucket of a duration: 0 below a microsecond, up to {@link LAST_BUCKET}. */
export function bucketOf(valueMs: number): number {
  if (!(valueMs >= FIRST_EDGE_MS)) return 0;
  let bucket = Math.min(LAST_BUCKET, 1 + Math.floor(Math.log(valueMs / FIRST_EDGE_MS) * DENSITY));
  // The logarithm may be a hair off; the edges decide.
  while (bucket > 1 && valueMs < EDGES_MS[bucket - 1]!) bucket--;
  while (bucket < LAST_BUCKET && valueMs >= EDGES_MS[bucket]!) bucket++;
  return bucket;
}

/** Lowest duration of a bucket, inclusive, in milliseconds. */
export function lowerEdgeOf(bucket: number): number {
  return bucket === 0 ? 0 : EDGES_MS[bucket - 1]!;
}

/** What a bucket stands for, in milliseconds: at most 1 % off for all that is in it. Bucket 0 stands for 0. */
export function bucketValueMs(bucket: number): number {
  return bucket === 0 ? 0 : (lowerEdgeOf(bucket) * 2 * GAMMA) / (1 + GAMMA);
}

/** Dimensions of all rollups, as their columns are named. */
export const ROLLUP_DIMENSIONS = [
  'model',
  'region',
  'device',
  'route',
  'variant',
  'tier',
  'stage',
  'outcome',
  'ttft_band',
] as const;
export type RollupDimension = (typeof ROLLUP_DIMENSIONS)[number];

/** Durations that are rolled up, and `requests`, which only counts and is always in bucket 0. */
export const ROLLUP_METRICS = [
  'ttft_client',
  'ttft_server',
  'tpot',
  'gap_max',
  'first_screen',
  'render_lag',
  'hidden_tax',
  'stage_duration',
  'requests',
] as const;
export type RollupMetric = (typeof ROLLUP_METRICS)[number];

/** Stages as they are rolled up: with what of the server's TTFT no known stage covers. */
export const ROLLUP_STAGES = [...STAGES, 'unattributed'] as const;

/** One histogram of a grain: a metric, for the grain `stage` of one stage. */
export interface RollupSeries {
  readonly metric: RollupMetric;
  readonly stage: (typeof ROLLUP_STAGES)[number] | null;
}

export interface RollupGrain {
  /** Dimensions whose values come from the row, in this order. */
  readonly dimensions: readonly RollupDimension[];
  /** One histogram each per combination of the dimensions' values. */
  readonly series: readonly RollupSeries[];
}

/**
 * What is kept apart. Few coarse grains and not one fine: a histogram is only smaller than its requests where many of them share
 * it. A dashboard on rollups offers the dimensions of one grain.
 */
export const ROLLUP_GRAINS = {
  /** Where and on what people wait. */
  client: {
    dimensions: ['model', 'region', 'device'],
    series: plain('ttft_client', 'tpot', 'gap_max', 'first_screen', 'render_lag', 'hidden_tax'),
  },
  /** Which part of the product, which experiment, whose contract. */
  route: {
    dimensions: ['model', 'route', 'variant', 'tier'],
    series: plain('ttft_server', 'ttft_client', 'tpot', 'first_screen'),
  },
  /** Where the time goes. */
  stage: {
    dimensions: ['model'],
    series: ROLLUP_STAGES.map((stage) => ({ metric: 'stage_duration', stage })),
  },
  /** How streams end, by how long their first token took. */
  outcome: {
    dimensions: ['variant', 'outcome', 'ttft_band'],
    series: plain('requests'),
  },
} as const satisfies Record<string, RollupGrain>;

/**
 * What is kept summed over a grain's other dimensions as well, by hour: by these dashboards are seldom narrowed, and without them there is
 * a tenth of the lines to read.
 */
export const ROLLUP_SUMS = {
  client: { dimensions: ['region', 'device'], metrics: ['ttft_client'] },
  route: { dimensions: ['variant'], metrics: ['ttft_client', 'tpot', 'first_screen'] },
  stage: { dimensions: ['stage'], metrics: ['stage_duration'] },
} as const satisfies Partial<
  Record<keyof typeof ROLLUP_GRAINS, { dimensions: readonly RollupDimension[]; metrics: readonly RollupMetric[] }>
>;

export type RollupGrainName = keyof typeof ROLLUP_GRAINS;
export const ROLLUP_GRAIN_NAMES = Object.keys(ROLLUP_GRAINS) as readonly RollupGrainName[];

function plain(...metrics: RollupMetric[]): RollupSeries[] {
  return metrics.map((metric) => ({ metric, stage: null }));
}

/**
 * Bands of the client's TTFT, each up to and including its limit: below 100 ms an answer feels instant, by 300 ms prompt, and
 * after a second attention wanders. A request without a client TTFT is in none: `unknown`.
 */
export const TTFT_BANDS = [
  { name: 'up_to_100ms', limitMs: 100 },
  { name: '100_to_300ms', limitMs: 300 },
  { name: '300_to_1000ms', limitMs: 1_000 },
  { name: 'over_1000ms', limitMs: Number.POSITIVE_INFINITY },
] as const;

/** The band of a client TTFT in milliseconds; null without one. */
export function ttftBandOf(ttftMs: number | null): (typeof TTFT_BANDS)[number]['name'] | null {
  if (ttftMs === null) return null;
  return TTFT_BANDS.find((band) => ttftMs <= band.limitMs)?.name ?? null;
}

/**
 * Combinations of values that one grain tells apart; later ones share one cell, in which every dimension is `other`. A bound on
 * what a flood of words can cost, far above what 50 accepted values per label come to in practice.
 */
export const MAX_ROLLUP_COMBINATIONS = 5_000;

/** Days for which hours are kept; longer where the requests themselves are. */
export const ROLLUP_HOURS_KEPT_DAYS = 90;
/** Days for which days are kept; longer where the requests themselves are. */
export const ROLLUP_DAYS_KEPT_DAYS = 730;
