import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalTimesMs, inPulse, nextRateChangeMs, PULSE } from './pace.ts';

function take(count: number, times: Generator<number>): number[] {
  return Array.from({ length: count }, () => times.next().value);
}

describe('nextRateChangeMs', () => {
  it('is later, and the pulse changes there and nowhere before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), (atMs) => {
        const changeMs = nextRateChangeMs(atMs);
        expect(changeMs).toBeGreaterThan(atMs);
        expect(inPulse(changeMs)).toBe(!inPulse(atMs));
        expect(inPulse((atMs + changeMs) / 2)).toBe(inPulse(atMs));
      }),
    );
  });
});

describe('arrivalTimesMs', () => {
  it('rises, and repeats for a seed', () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0.1, max: 200, noNaN: true }), (seed, rate) => {
        const times = take(50, arrivalTimesMs(seed, rate));
        expect(times).toEqual([...times].sort((a, b) => a - b));
        expect(times[0]).toBeGreaterThanOrEqual(0);
        expect(take(50, arrivalTimesMs(seed, rate))).toEqual(times);
      }),
    );
  });

  it('has the rate asked for at rest and three times as many in a pulse', () => {
    const times = take(40_000, arrivalTimesMs(7, 20));
    const cycles = times.at(-1)! / PULSE.everyMs;
    const pulsed = times.filter(inPulse).length;
    expect(pulsed / cycles / (20 * PULSE.factor * (PULSE.lastsMs / 1_000))).toBeCloseTo(1, 1);
    const restSeconds = (PULSE.everyMs - PULSE.lastsMs) / 1_000;
    expect((times.length - pulsed) / cycles / (20 * restSeconds)).toBeCloseTo(1, 1);
  });
});
