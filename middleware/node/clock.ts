/**
 * A reading of the one clock that all stamps of this process come from, in two parts: as one number it is inexact after 104 days, and
 * a BigInt takes ten times as long to write in decimal.
 */
export type Reading = readonly [seconds: number, nanoseconds: number];

const BILLION = 1_000_000_000;

/** Now, on the clock of `process.hrtime.bigint()`. */
export const readClock = (): Reading => process.hrtime();

export const isAfter = (one: Reading, other: Reading): boolean =>
  one[0] > other[0] || (one[0] === other[0] && one[1] > other[1]);

/** Nanoseconds from one reading to a later one; exact up to 104 days. */
export const elapsedNs = (from: Reading, to: Reading): number => (to[0] - from[0]) * BILLION + (to[1] - from[1]);

/** Nanoseconds in decimal, exact. */
export const inNanoseconds = ([seconds, nanoseconds]: Reading): string =>
  seconds === 0 ? String(nanoseconds) : seconds + String(BILLION + nanoseconds).slice(1);
