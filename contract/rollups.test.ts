import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketOf, bucketValueMs, LAST_BUCKET, lowerEdgeOf, ROLLUP_GRAINS, TTFT_BANDS, ttftBandOf } from './rollups.ts';

const DAY_MS = 86_400_000;
const duration = fc.oneof(
  fc.double({ min: 0.001, max: DAY_MS, noNaN: true }),
  // As many small ones as large ones.
  fc
    .double({ min: Math.log(0.001), max: Math.log(DAY_MS), noNaN: true })
    .map((power) => Math.min(DAY_MS, Math.exp(power))),
);

describe('buckets', () => {
  test('what a bucket stands for is at most 1 % off', () => {
    fc.assert(
      fc.property(duration, (valueMs) => {
        expect(Math.abs(bucketValueMs(bucketOf(valueMs)) - valueMs)).toBeLessThanOrEqual(0.01 * valueMs);
      }),
      { numRuns: 5_000 },
    );
  });

  test('a longer duration is never in a lower bucket', () => {
    fc.assert(
      fc.property(duration, duration, (one, other) => {
        expect(Math.sign(one - other) * (bucketOf(one) - bucketOf(other))).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });

  test('every edge begins its bucket, and the number just below it is in the one before', () => {
    for (let bucket = 1; bucket <= LAST_BUCKET; bucket++) {
      const edgeMs = lowerEdgeOf(bucket);
      expect(bucketOf(edgeMs)).toBe(bucket);
      expect(bucketOf(below(edgeMs))).toBe(bucket - 1);
      expect(bucketOf(bucketValueMs(bucket))).toBe(bucket);
      expect(edgeMs).toBeCloseTo(0.001 * 1.02 ** (bucket - 1), -Math.floor(Math.log10(edgeMs)) + 9);
    }
  });

  test('nothing, less than a microsecond and what is no duration are bucket 0; a day and more the last', () => {
    for (const value of [0, 5e-324, 0.000999, -1, Number.NaN]) expect(bucketOf(value)).toBe(0);
    expect(bucketValueMs(0)).toBe(0);
    for (const value of [DAY_MS, 7 * DAY_MS, Number.POSITIVE_INFINITY]) expect(bucketOf(value)).toBe(LAST_BUCKET);
    // It travels as a smallint.
    expect(LAST_BUCKET).toBeLessThan(32_768);
  });
});

test('bands are told by their limits, inclusive', () => {
  expect(TTFT_BANDS.map((band) => band.limitMs)).toEqual([100, 300, 1_000, Number.POSITIVE_INFINITY]);
  expect([0, 100, 100.1, 300, 300.1, 1_000, 1_000.1, DAY_MS].map(ttftBandOf)).toEqual([
    'up_to_100ms',
    'up_to_100ms',
    '100_to_300ms',
    '100_to_300ms',
    '300_to_1000ms',
    '300_to_1000ms',
    'over_1000ms',
    'over_1000ms',
  ]);
  expect(ttftBandOf(null)).toBeNull();
});

test('a grain names each of its histograms once', () => {
  for (const { series } of Object.values(ROLLUP_GRAINS))
    expect(new Set(series.map(({ metric, stage }) => `${metric} ${stage}`)).size).toBe(series.length);
});

/** The next lower number. */
function below(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigUint64(0, bits.getBigUint64(0) - 1n);
  return bits.getFloat64(0);
}
