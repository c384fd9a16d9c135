/**
 * Whether a value may enter a sum that only grows. NaN, an infinity or a negative would spoil a histogram's sum or a counter for
 * good, and no bucket tells the truth about them, so such a sample is left out whole. The upper bound keeps sums from
 * overflowing to infinity; durations are bounded to a day long before.
 */
export function isCountable(value: number): boolean {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
