import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_EXEMPLAR_CHARACTERS } from '../../contract/limits.ts';
import { formatLe, METRICS } from '../../contract/metrics.ts';
import { type ExpositionFormat, familyHeader } from './exposition.ts';
import { Histogram } from './histogram.ts';
import { parseStrictly, type Sample } from './strictParser.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const LABELS = ['queue', 'llama'];

function stageHistogram(): Histogram {
  return new Histogram(METRICS.stageDuration, 10, () => {});
}

function samplesOf(histogram: Histogram, format: ExpositionFormat = 'text'): Sample[] {
  const end = format === 'openmetrics' ? '# EOF\n' : '';
  const written = familyHeader(histogram, format) + [...histogram.pieces(format)].join('') + end;
  return parseStrictly(written, format).get(histogram.name)!.samples;
}

function valueIn(samples: readonly Sample[], suffix: string, le?: string): number | undefined {
  return samples.find(({ name, labels }) => name.endsWith(suffix) && labels['le'] === le)?.value;
}

describe('counting', () => {
  const edges = METRICS.stageDuration.buckets;
  const value = fc.oneof(
    fc.constantFrom(...edges),
    fc.constantFrom(...edges).map((edge) => edge + Number.EPSILON),
    fc.constantFrom(0, -0, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER),
    fc.double({ min: 0, max: 200, noNaN: true }),
  );

  test('each bucket holds as many samples as are not above its edge', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), (values) => {
        const histogram = stageHistogram();
        for (const each of values) histogram.observe(LABELS, each);
        const samples = samplesOf(histogram);
        for (const edge of [...edges, Number.POSITIVE_INFINITY]) {
          expect(valueIn(samples, '_bucket', formatLe(edge))).toBe(values.filter((each) => each <= edge).length);
        }
        expect(valueIn(samples, '_count')).toBe(values.length);
        expect(valueIn(samples, '_sum')).toBe(values.reduce((sum, each) => sum + each, 0));
      }),
    );
  });

  test('what is no duration is not counted and leaves the sum alone', () => {
    const histogram = stageHistogram();
    histogram.observe(LABELS, 0.25);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0.001, Number.MAX_VALUE]) {
      histogram.observe(LABELS, bad, TRACE_ID);
      histogram.observe(['queue', 'only bad values'], bad);
    }
    const samples = samplesOf(histogram);
    expect(valueIn(samples, '_sum')).toBe(0.25);
    expect(valueIn(samples, '_count')).toBe(1);
    expect(samples.filter(({ labels }) => labels['model'] === 'only bad values')).toEqual([]);
  });

  test('the wrong number of label values is an error, not another series', () => {
    expect(() => stageHistogram().observe(['queue'], 1)).toThrow(RangeError);
    expect(() => stageHistogram().observe(['queue', 'llama', 'more'], 1)).toThrow(RangeError);
  });

  test('without labels all series are there at zero before the first sample; with labels none is', () => {
    const samples = samplesOf(new Histogram(METRICS.commit, 10, () => {}));
    expect(samples).toHaveLength(METRICS.commit.buckets.length + 3);
    expect(samples.map((sample) => sample.value)).toEqual(samples.map(() => 0));
    expect([...stageHistogram().pieces('text')]).toEqual([]);
  });

  test('edges are printed alike in both formats, whole ones with .0', () => {
    const histogram = stageHistogram();
    histogram.observe(LABELS, 1);
    const printed = (format: ExpositionFormat) => samplesOf(histogram, format).map(({ labels }) => labels['le']);
    expect(printed('openmetrics')).toEqual(printed('text'));
    expect(printed('text')).toEqual(expect.arrayContaining(['0.0001', '1.0', '160.0', '+Inf']));
  });
});

describe('exemplars', () => {
  const exemplars = (histogram: Histogram, format: ExpositionFormat = 'openmetrics') =>
    samplesOf(histogram, format).flatMap(({ labels, exemplar }) =>
      exemplar ? [{ le: labels['le'], ...exemplar }] : [],
    );

  test('stand at the bucket that their sample fell into, in OpenMetrics only', () => {
    const histogram = stageHistogram();
    const before = Date.now() / 1000;
    histogram.observe(LABELS, 0.3, TRACE_ID);
    histogram.observe(LABELS, 500, 'chatcmpl-"\\');
    const after = Date.now() / 1000;
    expect(exemplars(histogram)).toEqual([
      { le: '0.3', labels: { trace_id: TRACE_ID }, value: 0.3, atSeconds: expect.any(Number) },
      { le: '+Inf', labels: { trace_id: 'chatcmpl-"\\' }, value: 500, atSeconds: expect.any(Number) },
    ]);
    const { atSeconds } = exemplars(histogram)[0]!;
    expect(atSeconds).toBeGreaterThanOrEqual(before);
    expect(atSeconds).toBeLessThanOrEqual(after);
    expect(exemplars(histogram, 'text')).toEqual([]);
  });

  test('the latest of a bucket is kept, with its own value', () => {
    const histogram = stageHistogram();
    histogram.observe(LABELS, 0.21, 'first');
    histogram.observe(LABELS, 0.29, 'second');
    histogram.observe(LABELS, 0.22);
    expect(exemplars(histogram)).toMatchObject([{ labels: { trace_id: 'second' }, value: 0.29 }]);
  });

  test('128 characters fit; of 129 the exemplar is left out and the sample counted, once', () => {
    const fits = 'x'.repeat(MAX_EXEMPLAR_CHARACTERS - 'trace_id'.length);
    const histogram = stageHistogram();
    histogram.observe(LABELS, 0.3, `${fits}x`);
    expect(exemplars(histogram)).toEqual([]);
    expect(valueIn(samplesOf(histogram), '_count')).toBe(1);
    histogram.observe(LABELS, 0.3, fits);
    histogram.observe(LABELS, 0.3, `${fits}x`);
    histogram.observe(LABELS, 0.3, '');
    expect(exemplars(histogram)).toMatchObject([{ labels: { trace_id: fits } }]);
    expect(valueIn(samplesOf(histogram), '_count')).toBe(4);
  });
});
