import { register as globalRegistry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { METRICS, OTHER_LABEL } from '../contract/metrics.ts';
import type { ExpositionFormat } from './metrics/exposition.ts';
import { type Family, parseStrictly } from './metrics/strictParser.ts';
import { createMetrics, type Metrics } from './registry.ts';

const ODD_MODEL = 'a"b\\c\nd';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** One sample in every metric of the catalogue. */
function metricsWithSamples(): Metrics {
  const metrics = createMetrics();
  for (const key of Object.keys(METRICS) as (keyof typeof METRICS)[]) {
    const metric = metrics[key];
    const labels = METRICS[key].labels.map(() => ODD_MODEL);
    if (metric.type === 'histogram') metric.observe(labels, 0.1 + 0.2, TRACE_ID);
    else if (metric.type === 'counter') metric.inc(labels, 3);
    else metric.set(labels, -1.5e-9);
  }
  return metrics;
}

async function scrape(metrics: Metrics, format: ExpositionFormat): Promise<Map<string, Family>> {
  return parseStrictly(await metrics.render(format), format);
}

describe('exposition', () => {
  test('both formats follow their grammar and say the same', async () => {
    const metrics = metricsWithSamples();
    const [text, openMetrics] = [await scrape(metrics, 'text'), await scrape(metrics, 'openmetrics')];
    for (const { name, type } of Object.values(METRICS)) {
      const inText = text.get(name);
      const inOpenMetrics = openMetrics.get(type === 'counter' ? name.replace(/_total$/, '') : name);
      expect(inText?.samples.length, name).toBeGreaterThan(0);
      expect(inOpenMetrics?.type, name).toBe(type);
      expect(inOpenMetrics?.samples.map(({ exemplar: _, ...sample }) => sample)).toEqual(inText?.samples);
    }
    expect(text.size).toBe(openMetrics.size);
  });

  test('an odd label value is escaped and reads back as it was', async () => {
    const metrics = metricsWithSamples();
    expect(await metrics.render('text')).toContain('streams_total{status="a\\"b\\\\c\\nd",model="a\\"b\\\\c\\nd"} 3\n');
    const { samples } = (await scrape(metrics, 'openmetrics')).get('ttft_seconds')!;
    expect(samples.map(({ labels }) => labels['model'])).toEqual(samples.map(() => ODD_MODEL));
    expect(samples.find(({ exemplar }) => exemplar)?.exemplar?.labels).toEqual({ trace_id: TRACE_ID });
  });

  test('the process and Node are there as well, with canonical edges', async () => {
    const families = await scrape(createMetrics(), 'openmetrics');
    expect([...families.keys()]).toEqual(
      expect.arrayContaining([
        'process_cpu_seconds',
        'process_resident_memory_bytes',
        'nodejs_eventloop_lag_p99_seconds',
      ]),
    );
    expect(await createMetrics().render('openmetrics')).not.toMatch(/le="\d+"/);
  });

  test('before anything has happened, what has no labels is at zero', async () => {
    const families = await scrape(createMetrics(), 'text');
    for (const name of ['firsttoken_clock_anomalies_total', 'firsttoken_spool_bytes', 'firsttoken_store_up']) {
      expect(families.get(name)?.samples).toEqual([{ name, labels: {}, value: 0 }]);
    }
    expect(families.get('ttft_seconds')?.samples).toEqual([]);
  });

  test('content types', () => {
    const metrics = createMetrics();
    expect(metrics.contentType('text')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(metrics.contentType('openmetrics')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  });
});

test('nothing is put into the global registry, and two sets of metrics know nothing of each other', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.spoolBytes.set([], 7);
  expect((await scrape(two, 'text')).get('firsttoken_spool_bytes')?.samples[0]?.value).toBe(0);
  expect(globalRegistry.getMetricsAsArray()).toEqual([]);
});

test('counters ignore what cannot be added', async () => {
  const metrics = createMetrics();
  for (const by of [2, -1, Number.NaN, Number.POSITIVE_INFINITY, 0, 1]) metrics.clockAnomalies.inc([], by);
  expect((await scrape(metrics, 'text')).get('firsttoken_clock_anomalies_total')?.samples[0]?.value).toBe(3);
});

test('a flood of label values stays within the cap, is counted, and the count of it is bounded too', async () => {
  const metrics = createMetrics({ maxLabelSets: 4 });
  for (let index = 0; index < 500; index += 1) {
    metrics.stageDuration.observe(['queue', `model-${index}`], 1);
    metrics.streams.inc(['complete', `model-${index}`]);
    metrics.labelOverflow.inc([`metric-${index}`, 'model']);
  }
  const families = await scrape(metrics, 'text');
  const series = (name: string) => families.get(name)!.samples;
  expect(series('stage_duration_seconds')).toHaveLength(4 * (METRICS.stageDuration.buckets.length + 3));
  expect(series('streams_total').map(({ value }) => value)).toEqual([1, 1, 1, 497]);
  expect(series('streams_total').at(-1)?.labels).toEqual({ status: OTHER_LABEL, model: OTHER_LABEL });
  expect(series('firsttoken_label_overflow_total')).toHaveLength(4);

  const bounded = createMetrics({ maxLabelSets: 2 });
  for (const model of ['a', 'b', 'c']) bounded.streams.inc(['complete', model]);
  expect((await scrape(bounded, 'text')).get('firsttoken_label_overflow_total')?.samples).toEqual([
    {
      name: 'firsttoken_label_overflow_total',
      labels: { metric: 'streams_total', label: '*' },
      value: 2,
    },
  ]);
});

test('a long scrape lets other work run, and what that work counts tears no histogram apart', async () => {
  const metrics = createMetrics();
  const sets = Array.from({ length: 500 }, (_, index) => [`stage-${index}`, 'llama']);
  for (const labels of sets) metrics.stageDuration.observe(labels, 0.5);

  let turns = 0;
  let isDone = false;
  const otherWork = () => {
    if (isDone) return;
    turns += 1;
    for (const labels of sets) metrics.stageDuration.observe(labels, 0.5);
    metrics.stageDuration.observe([`new-${turns}`, 'llama'], 0.5);
    setImmediate(otherWork);
  };
  setImmediate(otherWork);
  const written = await metrics.render('openmetrics');
  isDone = true;

  expect(turns).toBeGreaterThan(5);
  const { samples } = parseStrictly(written, 'openmetrics').get('stage_duration_seconds')!;
  const perSet = METRICS.stageDuration.buckets.length + 3;
  expect(samples.length % perSet).toBe(0);
  for (let first = 0; first < samples.length; first += perSet) {
    const [infinity, sum, count] = samples.slice(first + perSet - 3, first + perSet).map(({ value }) => value);
    expect(infinity).toBe(count);
    expect(sum).toBe(count! * 0.5);
  }
});
