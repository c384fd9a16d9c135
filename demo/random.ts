/** Uniform draws from [0, 1). */
export type Random = () => number;

/** FNV-1a over UTF-16 units: spreads neighbouring seeds and names over all 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let position = 0; position < text.length; position++) {
    state = Math.imul(state ^ text.charCodeAt(position), 0x01000193);
  }
  return state >>> 0;
}

/**
 * The stream of draws for one purpose: the same seed and purpose always give the same draws, whatever else is drawn in between and
 * in whichever process. The generator is mulberry32.
 */
export function randomStream(seed: number, purpose: string): Random {
  let state = hash(`${seed} ${purpose}`);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Standard normal, by Box and Muller. */
export function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Exponential with the given mean: the time between two arrivals that know nothing of each other. */
export function drawExponential(random: Random, mean: number): number {
  return -Math.log(1 - random()) * mean;
}

/** Where a percentile lies in the standard normal distribution. */
export const Z_SCORES = {
  p10: -1.2815515655,
  p50: 0,
  p875: 1.1503493804,
  p90: 1.2815515655,
  p99: 2.326347874,
} as const;

export type Percentile = keyof typeof Z_SCORES;

/** Parameters of the logarithm's normal distribution. */
export interface LogNormal {
  readonly mu: number;
  readonly sigma: number;
}

/**
 * The log-normal distribution that has two given percentiles. Latencies have this shape: never negative, most of them near a typical
 * value, and a long tail.
 *
 * @param lower a percentile and its value, positive
 * @param upper a higher percentile and its value, not below the lower's
 */
export function fitLogNormal(lower: readonly [Percentile, number], upper: readonly [Percentile, number]): LogNormal {
  const [lowerZ, upperZ] = [Z_SCORES[lower[0]], Z_SCORES[upper[0]]];
  const sigma = (Math.log(upper[1]) - Math.log(lower[1])) / (upperZ - lowerZ);
  return { mu: Math.log(lower[1]) - sigma * lowerZ, sigma };
}

/** The log-normal distribution of which four fifths lie between the two values. */
export function between(p10: number, p90: number): LogNormal {
  return fitLogNormal(['p10', p10], ['p90', p90]);
}

/** Value of a distribution at a percentile. */
export function percentileOf({ mu, sigma }: LogNormal, percentile: Percentile): number {
  return Math.exp(mu + sigma * Z_SCORES[percentile]);
}

/**
 * One draw. Cut off at four standard deviations (one draw in 30,000 lies beyond), so that no simulated stage lasts minutes.
 */
export function drawLogNormal(random: Random, { mu, sigma }: LogNormal): number {
  return Math.exp(mu + sigma * Math.min(drawNormal(random), 4));
}

/** One of the choices, each as likely as its weight says. */
export function drawWeighted<T>(random: Random, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random() * total;
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  return choices.at(-1)![0];
}

/** A whole number from `from` to `to`, both included. */
export function drawInteger(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}
