import { drawExponential, randomStream } from './random.ts';

/** Pulses of load: every half a minute, five seconds of three times the rate. The first comes early enough for a short run. */
export const PULSE = { everyMs: 30_000, startsMs: 10_000, lastsMs: 5_000, factor: 3 } as const;

/** Whether a pulse lasts at this time of the run. Milliseconds. */
export function inPulse(atMs: number): boolean {
  const position = atMs % PULSE.everyMs;
  return position >= PULSE.startsMs && position < PULSE.startsMs + PULSE.lastsMs;
}

/** When the rate changes next after this time. Milliseconds, always later than `atMs`. */
export function nextRateChangeMs(atMs: number): number {
  const cycle = Math.floor(atMs / PULSE.everyMs) * PULSE.everyMs;
  const changes = [PULSE.startsMs, PULSE.startsMs + PULSE.lastsMs, PULSE.everyMs + PULSE.startsMs];
  return changes.map((change) => cycle + change).find((change) => change > atMs)!;
}

/**
 * Times at which requests start, milliseconds from the start of the run, rising, without end. Requests arrive as if they knew nothing
 * of each other (a Poisson process) and of the answers: a slow service does not slow its users down, which would hide its slowness.
 */
export function* arrivalTimesMs(seed: number, ratePerSecond: number): Generator<number, never> {
  const random = randomStream(seed, 'arrivals');
  let atMs = 0;
  for (;;) {
    // In units of expected arrivals, the time between two is exponential with mean 1, whatever the rate does meanwhile.
    let left = drawExponential(random, 1);
    for (;;) {
      const ratePerMs = (ratePerSecond * (inPulse(atMs) ? PULSE.factor : 1)) / 1_000;
      const changeMs = nextRateChangeMs(atMs);
      if (left <= (changeMs - atMs) * ratePerMs) {
        atMs = Math.min(atMs + left / ratePerMs, changeMs);
        break;
      }
      left -= (changeMs - atMs) * ratePerMs;
      atMs = changeMs;
    }
    yield atMs;
  }
}
