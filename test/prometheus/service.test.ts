import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TTFT_BUCKETS } from '../../contract/metrics.ts';
import { openService, query, type RunningService } from '../postgres/service.ts';
import { until } from '../postgres/serviceWait.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

const STREAMS = 600;
const DEADLINE_MS = 60_000;

let service: RunningService;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  service = await openService();
  prometheus = await startPrometheus({
    config: `
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: ingest
    static_configs: [{ targets: ['${new URL(service.adminUrl).host}'] }]`,
  });
});

afterAll(async () => {
  await prometheus?.stop();
  await service?.stop();
});

it('is scraped, and its 95th percentile is the one of the rows, within a bucket', async () => {
  await until('the target is up', async () => (await value('up')) === 1, DEADLINE_MS);
  // A counter that a scrape has not seen yet has no increase: the first samples only make the series.
  await service.postTimings(record(0, 1));
  await until('the first sample is scraped', async () => (await value('sum(ttft_seconds_count)')) === 1, DEADLINE_MS);

  for (let first = 1; first <= STREAMS; first += 100) {
    const batch = Array.from({ length: 100 }, (_, index) => record(first + index, ttftMs(first + index)));
    expect((await service.postTimings(...batch)).status).toBe(202);
  }
  await until('all are scraped', async () => (await value('sum(ttft_seconds_count)')) === STREAMS + 1, DEADLINE_MS);

  const estimate = await value('histogram_quantile(0.95, sum by (le) (rate(ttft_seconds_bucket[1m])))');
  const [exact] = await query<{ p95: number }>(
    service.databaseUrl,
    `SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY server_ttft_ns) / 1e9 AS p95
     FROM requests WHERE server_ttft_ns > 1000000`,
  );
  const bucketOf = (seconds: number) => TTFT_BUCKETS.findIndex((edge) => seconds <= edge);
  expect(Math.abs(bucketOf(estimate!) - bucketOf(Number(exact!.p95)))).toBeLessThanOrEqual(1);
});

it('passes promtool check metrics as it is', async () => {
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
  const checking = promisify(execFile)('promtool', ['check', 'metrics']);
  checking.child.stdin!.end(text);
  const { stdout, stderr } = await checking;
  expect(`${stdout}${stderr}`).toBe('');
});

/** Deterministic and skewed as TTFTs are: most near 0.4 s, a tail of seconds. */
function ttftMs(index: number): number {
  const uniform = ((index * 7919) % STREAMS) / STREAMS;
  return 400 * Math.exp(1.2 * (uniform * 4 - 2)) ** 0.8;
}

function record(index: number, ttft: number): object {
  const startNs = 1_000_000_000n + BigInt(index);
  const stamps = [startNs, startNs, ...Array<bigint>(4).fill(startNs), startNs + BigInt(Math.round(ttft * 1e6))];
  return { trace_id: `f${index.toString(16).padStart(31, '0')}`, timing_trace: stamps.join(','), model: 'llama-3-70b' };
}

async function value(expression: string): Promise<number | undefined> {
  const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const answer = (await response.json()) as { data: { result: { value: [number, string] }[] } };
  const sample = answer.data.result[0]?.value[1];
  return sample === undefined ? undefined : Number(sample);
}
