import type { RollupGrainName } from '../../contract/rollups.ts';
import { rollupSamples } from './rollupSamples.ts';
import type { RequestRow } from './row.ts';

const HOUR_MS = 3_600_000;
/** More than there are buckets; a series and a bucket become one number with it. */
const BUCKETS_APART = 4_096;

/** Counts to be added to the histograms of one combination of values, within one hour. */
export interface CombinationIncrements {
  readonly grain: RollupGrainName;
  readonly values: readonly string[];
  /** By series and bucket, see {@link placeOf}. Counts may be negative or 0. */
  readonly counts: Map<number, number>;
}

/** Where a series' bucket is counted; `series` is its position in the grain. */
export function placeOf(series: number, bucket: number): number {
  return series * BUCKETS_APART + bucket;
}

export function seriesAndBucketOf(place: number): { series: number; bucket: number } {
  return { series: Math.floor(place / BUCKETS_APART), bucket: place % BUCKETS_APART };
}

/** One text per combination of values; words from outside contain no NUL. */
export function combinationKey(grain: RollupGrainName, values: readonly string[]): string {
  return `${grain}\0${values.join('\0')}`;
}

/**
 * Adds up by how much some changes of rows change the rollups: what the old state had added is taken away, what the new one adds
 * is added. Most of what a change leaves alone cancels out here.
 *
 * @returns per hour in which requests started (epoch milliseconds), per combination of values
 */
export function rollupIncrements(
  changes: readonly { readonly before: RequestRow | null; readonly after: RequestRow }[],
): Map<number, Map<string, CombinationIncrements>> {
  const hours = new Map<number, Map<string, CombinationIncrements>>();
  for (const { before, after } of changes) {
    // The start never changes, so neither does the hour.
    const hourMs = Math.floor(after.started_at / HOUR_MS) * HOUR_MS;
    let combinations = hours.get(hourMs);
    if (!combinations) {
      combinations = new Map();
      hours.set(hourMs, combinations);
    }
    if (before !== null) count(combinations, before, -1);
    count(combinations, after, 1);
  }
  return hours;
}

function count(combinations: Map<string, CombinationIncrements>, row: RequestRow, by: 1 | -1): void {
  for (const { grain, values, buckets } of rollupSamples(row)) {
    const key = combinationKey(grain, values);
    let increments = combinations.get(key);
    if (!increments) {
      increments = { grain, values, counts: new Map() };
      combinations.set(key, increments);
    }
    const { counts } = increments;
    for (const [series, bucket] of buckets.entries()) {
      if (bucket === null) continue;
      const place = placeOf(series, bucket);
      counts.set(place, (counts.get(place) ?? 0) + by);
    }
  }
}
