import { describe, expect, test } from 'vitest';
import {
  formatLe,
  GAP_BUCKETS,
  type HistogramDefinition,
  METRICS,
  type MetricDefinition,
  RECORDING_RULES,
  TPOT_BUCKETS,
  TPOT_STDDEV_BUCKETS,
  TTFT_BUCKETS,
} from './metrics.ts';

const metrics: readonly MetricDefinition[] = Object.values(METRICS);
const histograms = metrics.filter((metric): metric is HistogramDefinition => metric.type === 'histogram');

describe('names', () => {
  test('are unique, also once a counter has lost its _total and among the recording rules', () => {
    const families = [...metrics.map(({ name }) => name.replace(/_total$/, '')), ...RECORDING_RULES];
    expect(new Set(families).size).toBe(families.length);
  });

  test.each(metrics)('$name says what it is', ({ name, type, labels, help }) => {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(name).not.toMatch(/_(bucket|sum|count|created|info|ms|ns|milliseconds|kilobytes)$/);
    expect(help).toMatch(/^[A-Z].*\.$/);
    for (const label of labels) expect(label).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(new Set(labels).size).toBe(labels.length);
    for (const reserved of ['le', 'quantile', 'job', 'instance', 'trace_id']) expect(labels).not.toContain(reserved);
  });

  test('no series of a histogram is the name of another metric', () => {
    const names = new Set(metrics.map(({ name }) => name));
    const series = histograms.flatMap(({ name }) => [`${name}_bucket`, `${name}_sum`, `${name}_count`]);
    expect(series.filter((name) => names.has(name))).toEqual([]);
  });
});

describe('edges', () => {
  test.each(histograms)('$name: positive, finite, strictly rising', ({ buckets }) => {
    expect(buckets.length).toBeGreaterThan(5);
    let last = 0;
    for (const edge of buckets) {
      expect(Number.isFinite(edge)).toBe(true);
      expect(edge).toBeGreaterThan(last);
      last = edge;
    }
  });

  test.each(histograms)('$name: each is printed once, short and canonical', ({ buckets }) => {
    for (const edge of buckets) {
      expect(formatLe(edge)).toMatch(/^\d+\.\d{1,5}$/);
      expect(Number(formatLe(edge))).toBe(edge);
    }
    expect(new Set(buckets.map(formatLe)).size).toBe(buckets.length);
  });

  test('are printed as Prometheus 3 rewrites them', () => {
    expect([0.0001, 0.5, 1, 7.5, 160, Number.POSITIVE_INFINITY].map(formatLe)).toEqual([
      '0.0001',
      '0.5',
      '1.0',
      '7.5',
      '160.0',
      '+Inf',
    ]);
  });

  // https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ : the advised boundaries of
  // gen_ai.server.time_to_first_token and gen_ai.server.time_per_output_token. They are vLLM's grids, to which its later
  // releases only added coarser edges at the top.
  test('keep the grids that OpenTelemetry and vLLM share', () => {
    const firstToken = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
    const perToken = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
    expect(TTFT_BUCKETS).toEqual(expect.arrayContaining(firstToken));
    expect(TPOT_BUCKETS).toEqual(expect.arrayContaining(perToken));
  });

  test('of server TTFT, client TTFT and their difference are the same', () => {
    expect(METRICS.ttftClient.buckets).toEqual(METRICS.ttft.buckets);
    expect(METRICS.hiddenTax.buckets).toEqual(METRICS.ttft.buckets);
  });

  test('hold every threshold: TTFT over 1 s and 2 s, the token budgets, a steady stream, a felt pause', () => {
    expect(TTFT_BUCKETS).toEqual(expect.arrayContaining([0.5, 1, 2]));
    expect(TPOT_BUCKETS).toEqual(expect.arrayContaining([0.08, 0.11]));
    expect(TPOT_STDDEV_BUCKETS).toContain(0.015);
    expect(GAP_BUCKETS).toContain(0.5);
  });
});
