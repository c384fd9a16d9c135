import { spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { formatLe, METRICS, TTFT_BUCKETS } from '../../contract/metrics.ts';
import type { ExpositionFormat } from '../../ingest/metrics/exposition.ts';
import { createMetrics, type Metrics } from '../../ingest/registry.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

const ODD_MODEL = 'a"b\\c\nd';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
/** With `trace_id` the 128 characters of the longest exemplar. */
const LONGEST_ID = 'x'.repeat(120);
const TTFT_LABELS = [ODD_MODEL, '/api/chat', 'vip', 'int4', 'gpu-03'];
const WITHIN = { timeout: 30_000, interval: 100 };

/** Every metric of the catalogue with one sample, and the first with exemplars. */
function metricsWithSamples(): Metrics {
  const metrics = createMetrics();
  for (const key of Object.keys(METRICS) as (keyof typeof METRICS)[]) {
    if (key === 'ttft') continue;
    const metric = metrics[key];
    const labels = METRICS[key].labels.map((label) => `some ${label}`);
    if (metric.type === 'histogram') metric.observe(labels, 1);
    else if (metric.type === 'counter') metric.inc(labels, 3);
    else metric.set(labels, 12.5);
  }
  metrics.ttft.observe(TTFT_LABELS, 0.41, TRACE_ID);
  metrics.ttft.observe(TTFT_LABELS, 1, LONGEST_ID);
  // One character too many: the sample counts, without an exemplar.
  metrics.ttft.observe(TTFT_LABELS, 3, `${LONGEST_ID}x`);
  return metrics;
}

describe('a scrape by Prometheus', () => {
  let server: Server;
  let prometheus: RunningPrometheus;
  const servedTypes = new Set<string>();

  beforeAll(async () => {
    const metrics = metricsWithSamples();
    server = createServer(async (request, response) => {
      const format: ExpositionFormat = request.url === '/text' ? 'text' : metrics.formatFor(request.headers.accept);
      servedTypes.add(`${request.url} ${metrics.contentType(format)}`);
      response.setHeader('content-type', metrics.contentType(format)).end(await metrics.render(format));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const job = (name: string, path: string) =>
      `  - { job_name: ${name}, metrics_path: ${path}, static_configs: [{ targets: ['${target}'] }] }\n`;
    prometheus = await startPrometheus({
      config: `global: { scrape_interval: 2s, scrape_timeout: 2s }\nscrape_configs:\n${job('negotiated', '/metrics')}${job('text', '/text')}`,
    });
    await vi.waitFor(async () => {
      const up = await query('up');
      expect(up.map(({ metric, value }) => [metric['job'], value])).toEqual(
        expect.arrayContaining([
          ['negotiated', 1],
          ['text', 1],
        ]),
      );
    }, WITHIN);
  });

  afterAll(async () => {
    await prometheus?.stop();
    server?.closeAllConnections();
    server?.close();
  });

  async function ask(path: string, parameters: Record<string, string>): Promise<unknown> {
    const response = await fetch(`${prometheus.url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    expect(answer.error).toBeUndefined();
    return answer.data;
  }

  async function query(promql: string) {
    const { result } = (await ask('query', { query: promql })) as {
      result: { metric: Record<string, string>; value: [number, string] }[];
    };
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  test('asks for OpenMetrics and is served it', () => {
    expect(servedTypes).toEqual(
      new Set([
        '/metrics application/openmetrics-text; version=1.0.0; charset=utf-8',
        '/text text/plain; version=0.0.4; charset=utf-8',
      ]),
    );
  });

  test.each(['negotiated', 'text'])('%s: every metric of the catalogue arrives', async (job) => {
    for (const { name, type } of Object.values(METRICS)) {
      const series = await query(`${type === 'histogram' ? `${name}_count` : name}{job="${job}"}`);
      expect(series, name).toHaveLength(1);
    }
  });

  test.each(['negotiated', 'text'])('%s: buckets, sum and labels are what was observed', async (job) => {
    const buckets = await query(`ttft_seconds_bucket{job="${job}"}`);
    const byLe = new Map(buckets.map(({ metric, value }) => [metric['le'], value]));
    const expected = [...TTFT_BUCKETS, Number.POSITIVE_INFINITY].map((edge) => {
      return [formatLe(edge), [0.41, 1, 3].filter((value) => value <= edge).length] as const;
    });
    expect(byLe).toEqual(new Map(expected));
    const [sum] = await query(`ttft_seconds_sum{job="${job}",model="a\\"b\\\\c\\nd"}`);
    expect(sum?.value).toBeCloseTo(4.41, 9);
    expect(sum?.metric).toMatchObject({ model: ODD_MODEL, route: '/api/chat', tier: 'vip', backend: 'gpu-03' });
  });

  test('both formats give the same series', async () => {
    const catalogue = Object.values(METRICS).map(({ name }) => name);
    const seriesOf = async (job: string) => {
      const series = await query(`{job="${job}",__name__=~"(${catalogue.join('|')})(_bucket|_sum|_count)?"}`);
      return new Map(series.map(({ metric: { job: _, ...metric }, value }) => [JSON.stringify(metric), value]));
    };
    const negotiated = await seriesOf('negotiated');
    expect(negotiated.size).toBeGreaterThan(catalogue.length);
    expect(negotiated).toEqual(await seriesOf('text'));
  });

  test('exemplars lead from a bucket to its trace', async () => {
    const now = Date.now() / 1000;
    const found = (await ask('query_exemplars', {
      query: 'histogram_quantile(0.95, sum by (le) (rate(ttft_seconds_bucket[1m])))',
      start: String(now - 600),
      end: String(now + 600),
    })) as { seriesLabels: Record<string, string>; exemplars: { labels: Record<string, string>; value: string }[] }[];
    const exemplars = found.flatMap(({ seriesLabels, exemplars: ofSeries }) =>
      ofSeries.map(({ labels, value }) => [seriesLabels['job'], seriesLabels['le'], labels, Number(value)]),
    );
    expect(exemplars).toHaveLength(2);
    expect(exemplars).toEqual(
      expect.arrayContaining([
        ['negotiated', '0.5', { trace_id: TRACE_ID }, 0.41],
        ['negotiated', '1.0', { trace_id: LONGEST_ID }, 1],
      ]),
    );
  });

  test('units and help arrive as metadata', async () => {
    const metadata = await ask('metadata', { metric: 'ttft_seconds' });
    const entry = { type: 'histogram', help: METRICS.ttft.help };
    // Two entries: the text format has no units.
    expect(metadata).toEqual({
      ttft_seconds: expect.arrayContaining([
        { ...entry, unit: 'seconds' },
        { ...entry, unit: '' },
      ]),
    });
  });
});

test('promtool finds nothing to better in the names, help and units of the catalogue', async () => {
  const lines = (await metricsWithSamples().render('text')).split('\n');
  // What follows is prom-client's, whose gauges named _total the linter does not like.
  const ours = lines.slice(0, lines.indexOf('# TYPE process_cpu_user_seconds_total counter') - 1);
  const { error, stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: `${ours.join('\n')}\n`,
    encoding: 'utf8',
  });
  if (error) throw new MissingProgramError('promtool', { cause: error });
  expect(ours.filter((line) => line.startsWith('# TYPE'))).toHaveLength(Object.keys(METRICS).length);
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
});
