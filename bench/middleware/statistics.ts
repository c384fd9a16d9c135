/** @param values at least one */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A median, and between which values it lies with 95 % confidence. */
export interface Estimate {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The interval is that of the order statistics, which asks nothing of how the values are distributed: times on a shared machine have a
 * long tail.
 */
export function estimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const spread = 0.98 * Math.sqrt(sorted.length);
  const last = sorted.length - 1;
  return {
    median: median(sorted),
    low: sorted[Math.max(0, Math.floor(last / 2 - spread))]!,
    high: sorted[Math.min(last, Math.ceil(last / 2 + spread))]!,
  };
}
