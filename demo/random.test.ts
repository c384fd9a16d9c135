import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  between,
  drawExponential,
  drawInteger,
  drawLogNormal,
  drawWeighted,
  fitLogNormal,
  percentileOf,
  randomStream,
} from './random.ts';

const draws = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);
const share = (values: readonly number[], below: number): number =>
  values.filter((value) => value < below).length / values.length;

describe('randomStream', () => {
  it('repeats for one seed and purpose, and differs for another of either', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string(), (seed, purpose) => {
        const first = draws(4, randomStream(seed, purpose));
        expect(draws(4, randomStream(seed, purpose))).toEqual(first);
        expect(draws(4, randomStream(seed + 1, purpose))).not.toEqual(first);
        expect(draws(4, randomStream(seed, `${purpose}.`))).not.toEqual(first);
      }),
    );
  });

  it('stays in [0, 1) and fills it evenly', () => {
    const values = draws(20_000, randomStream(7, 'evenness'));
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    for (const edge of [0.1, 0.25, 0.5, 0.75, 0.9]) expect(share(values, edge)).toBeCloseTo(edge, 1);
  });
});

describe('fitLogNormal', () => {
  it('has the two percentiles that it was given', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 1e5, noNaN: true }),
        fc.double({ min: 1, max: 100, noNaN: true }),
        (low, by) => {
          const fitted = fitLogNormal(['p50', low], ['p99', low * by]);
          expect(percentileOf(fitted, 'p50') / low).toBeCloseTo(1, 9);
          expect(percentileOf(fitted, 'p99') / (low * by)).toBeCloseTo(1, 9);
          expect(percentileOf(fitted, 'p90')).toBeGreaterThanOrEqual(percentileOf(fitted, 'p10'));
        },
      ),
    );
  });

  it('puts a tenth of the draws under the lower value and a tenth over the upper', () => {
    const random = randomStream(7, 'percentiles');
    const values = draws(20_000, () => drawLogNormal(random, between(186, 420)));
    expect(share(values, 186)).toBeCloseTo(0.1, 1);
    expect(share(values, 420)).toBeCloseTo(0.9, 1);
    expect(Math.abs(share(values, 186) - 0.1)).toBeLessThan(0.01);
    expect(Math.abs(share(values, 420) - 0.9)).toBeLessThan(0.01);
  });
});

describe('the other draws', () => {
  it('choose as often as the weights say, and never a choice of weight 0', () => {
    const random = randomStream(7, 'weights');
    const chosen = draws(10_000, () =>
      drawWeighted(random, [
        ['a', 1],
        ['never', 0],
        ['b', 3],
      ]),
    );
    expect(chosen.filter((choice) => choice === 'b').length / chosen.length).toBeCloseTo(0.75, 1);
    expect(chosen).not.toContain('never');
  });

  it('keep whole numbers within their bounds, both reached', () => {
    const random = randomStream(7, 'integers');
    expect(new Set(draws(500, () => drawInteger(random, 3, 6)))).toEqual(new Set([3, 4, 5, 6]));
  });

  it('give exponential times the mean asked for', () => {
    const random = randomStream(7, 'exponential');
    const values = draws(20_000, () => drawExponential(random, 50));
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(50, -1);
  });
});
