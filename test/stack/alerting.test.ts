import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { INGEST_JOB, PROMETHEUS_RULES_FILE } from '../../dashboards/config.ts';
import { openService, type RunningService } from '../postgres/service.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/prometheus.ts';
import { type RunningAlertmanager, startAlertmanager } from './alertmanager.ts';
import { readText } from './composeFile.ts';
import { clientHalf, plans, serverHalf } from './demoHalves.ts';

const WITHIN = { timeout: 90_000, interval: 250 };
/** So many of one scenario that one model has the hundred that its alert needs. */
const REQUESTS = 300;

let folder: string;
let service: RunningService;
let alertmanager: RunningAlertmanager;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firsttoken-alerting-'));
  const rules = join(folder, 'rules.yaml');
  // The shipped rules, in a hurry: what waits for minutes there waits for seconds here.
  await writeFile(
    rules,
    readText(PROMETHEUS_RULES_FILE)
      .replaceAll(/interval: 30s/g, 'interval: 1s')
      .replaceAll(/for: \d+m/g, 'for: 2s'),
  );
  [service, alertmanager] = await Promise.all([openService(), startAlertmanager()]);
  prometheus = await startPrometheus({
    config: `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${rules}']
alerting: { alertmanagers: [{ static_configs: [{ targets: ['${new URL(alertmanager.url).host}'] }] }] }
scrape_configs: [{ job_name: ${INGEST_JOB}, static_configs: [{ targets: ['${new URL(service.adminUrl).host}'] }] }]`,
  });
});

afterAll(async () => {
  await prometheus?.stop();
  await Promise.all([alertmanager?.stop(), service?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

async function value(promql: string): Promise<number> {
  const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(promql)}`);
  const answer = (await response.json()) as { data: { result: { value: [number, string] }[] } };
  return Number(answer.data.result[0]?.value[1] ?? Number.NaN);
}

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

test('slow prompt building reaches the Alertmanager as a page, with where to look', async () => {
  const slow = plans(REQUESTS, 'slow_preprocess');
  // A counter that no scrape has seen before has no increase: the first of each model only makes the series.
  const first = [
    ...new Map(
      slow.map((plan) => [`${plan.model} ${plan.route} ${plan.tier} ${plan.variant} ${plan.backend}`, plan]),
    ).values(),
  ];
  expect((await service.postTimings(...first.map(serverHalf))).status).toBe(202);
  await vi.waitFor(async () => expect(await value('sum(ttft_seconds_count)')).toBe(first.length), WITHIN);

  const rest = slow.filter((plan) => !first.includes(plan));
  expect((await service.postTimings(...rest.map(serverHalf))).status).toBe(202);
  expect((await service.postBeacons(...slow.map(clientHalf))).status).toBe(202);

  const page = await vi.waitFor(async () => {
    const alerts = (await (await fetch(`${alertmanager.url}/api/v2/alerts`)).json()) as Alert[];
    const found = alerts.find(({ labels }) => labels['alertname'] === 'TtftP95High');
    expect(found).toBeDefined();
    return found as Alert;
  }, WITHIN);
  expect(page.labels).toMatchObject({ severity: 'page', model: 'llama-3-70b' });
  expect(page.annotations['summary']).toMatch(/^TTFT p95 of llama-3-70b is [12]\.\d\d s$/);
  expect(page.annotations['dashboard_url']).toBe(
    'http://localhost:3000/d/first-token?viewPanel=2&var-model=llama-3-70b',
  );
  expect(page.annotations['runbook_url']).toBe('docs/runbook.md#ttftp95high');
});
