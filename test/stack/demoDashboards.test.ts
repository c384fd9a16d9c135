import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dashboards } from '../../dashboards/artefacts.ts';
import {
  FIRST_TOKEN,
  GPU_BACKEND,
  INGEST_HEALTH,
  INGEST_JOB,
  REQUEST,
  SLOW_REQUESTS,
} from '../../dashboards/config.ts';
import { type Frame, knownRowsOf } from '../../dashboards/runner/frame.ts';
import { type Interpolation, interpolateSql } from '../../dashboards/runner/interpolation.ts';
import type { Series } from '../../dashboards/runner/prometheusFrames.ts';
import { runPanel, targetsOf } from '../../dashboards/runner/runPanel.ts';
import { panelsOf } from '../postgres/dashboardDatabase.ts';
import { percentile } from '../postgres/dashboardSample.ts';
import { AUTHORIZED, openService, type RunningService } from '../postgres/service.ts';
import { ndjson } from '../postgres/serviceHttp.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/prometheus.ts';
import { clientHalf, gatewayLine, plans, serverHalf, traceIdOf, ttftSeconds } from './demoHalves.ts';

/** Traffic of the demo's generator through a running service, and every panel of every dashboard upon it. */
const WITHIN = { timeout: 60_000, interval: 500 };
const REQUESTS = 400;
const all = plans(REQUESTS);
/** The one that has a query of its own inside. */
const shown = all.find(({ scenario }) => scenario === 'slow_db') ?? all[0];

/** Nothing of the kind happens here: no GPU host is scraped, and nothing goes wrong in the service. */
const QUIET: readonly string[] = [
  ...Object.entries(GPU_BACKEND.panelIds)
    .filter(([name]) => name !== 'ttft')
    .map(([, id]) => `${GPU_BACKEND.uid} ${id}`),
  ...(['retries', 'overflow', 'anomalies'] as const).map(
    (name) => `${INGEST_HEALTH.uid} ${INGEST_HEALTH.panelIds[name]}`,
  ),
];

let service: RunningService;
let prometheus: RunningPrometheus;
let client: pg.Client;
let startedAt: Date;

beforeAll(async () => {
  startedAt = new Date(Date.now() - 120_000);
  service = await openService();
  prometheus = await startPrometheus({
    config: `
global: { scrape_interval: 1s }
scrape_configs: [{ job_name: ${INGEST_JOB}, static_configs: [{ targets: ['${new URL(service.adminUrl).host}'] }] }]`,
  });
  client = new pg.Client(service.databaseUrl);
  await client.connect();
  let sent = 0;
  // Twice, with a scrape in between: a counter that was never seen before has no growth.
  for (const half of [all.slice(0, REQUESTS / 2), all.slice(REQUESTS / 2)]) {
    const lines = ndjson(half.map(gatewayLine));
    const headers = { ...AUTHORIZED, 'content-type': 'application/x-ndjson' };
    expect((await service.send('/v1/gateway-logs', { headers, body: lines })).status).toBe(202);
    expect((await service.postTimings(...half.map(serverHalf))).status).toBe(202);
    expect((await service.postBeacons(...half.map(clientHalf), { v: 1 })).status).toBe(202);
    sent += half.length;
    const upTo = sent;
    await vi.waitFor(async () => {
      const [settled] = await promql('query', { query: 'sum(firsttoken_settled_total)' });
      expect(Number(settled?.value?.[1])).toBe(upTo);
    }, WITHIN);
  }
});

afterAll(async () => {
  await client?.end();
  await prometheus?.stop();
  await service?.stop();
});

async function promql(path: string, parameters: Record<string, string>): Promise<Series[]> {
  const response = await fetch(`${prometheus.url}/api/v1/${path}`, {
    method: 'POST',
    body: new URLSearchParams(parameters),
  });
  const answer = (await response.json()) as { error?: string; data: { result: Series[] } };
  expect(answer.error).toBeUndefined();
  return answer.data.result;
}

/** As Grafana does: with the role that may only read. */
async function sql(statement: string): Promise<pg.QueryResult<Record<string, unknown>>> {
  await client.query('BEGIN');
  try {
    await client.query('SET LOCAL ROLE grafana_reader');
    return await client.query<Record<string, unknown>>(statement);
  } finally {
    await client.query('ROLLBACK');
  }
}

const range = (variables: Interpolation['variables']): Interpolation => ({
  from: startedAt,
  to: new Date(),
  timezone: 'utc',
  variables,
});

/** All options of the dashboard's variables, as it reads them. */
async function variablesOf(dashboard: Dashboard): Promise<Record<string, string[]>> {
  const variables: Record<string, string[]> =
    dashboard.uid === REQUEST.uid && shown ? { trace_id: [traceIdOf(shown)] } : {};
  for (const { type, name, query, multi } of dashboard.templating?.list ?? []) {
    if (type !== 'query') continue;
    const { rows } = await sql(interpolateSql(String(query), range(variables)));
    const values = rows.map((row) => String(row['value']));
    variables[name] = multi ? values : values.slice(0, 1);
  }
  return variables;
}

async function framesOf(dashboard: Dashboard, panel: Panel): Promise<Frame[]> {
  return runPanel({ ...panel, interval: '1s' }, range(await variablesOf(dashboard)), { sql, promql, scrapeSeconds: 1 });
}

async function rowsOf(uid: string, id: number): Promise<Record<string, unknown>[]> {
  const dashboard = dashboards().find((each) => each.uid === uid) as Dashboard;
  const panel = panelsOf(dashboard).find((each) => each.id === id) as Panel;
  return (await framesOf(dashboard, panel)).flatMap(knownRowsOf);
}

describe.each(dashboards().map((dashboard) => ({ uid: dashboard.uid ?? '', dashboard })))(
  '$uid',
  ({ uid, dashboard }) => {
    const panels = panelsOf(dashboard)
      .filter((panel) => !targetsOf(panel).some(({ datasource }) => ['loki', 'tempo'].includes(datasource.type)))
      .map((panel) => ({ title: panel.title ?? '', panel }));

    test.each(panels)('$title', async ({ panel }) => {
      if (QUIET.includes(`${uid} ${panel.id}`)) {
        await framesOf(dashboard, panel);
        return;
      }
      await vi.waitFor(async () => {
        expect((await framesOf(dashboard, panel)).flatMap(knownRowsOf).length).toBeGreaterThan(0);
      }, WITHIN);
    });
  },
);

describe('values are those of the plans', () => {
  test('requests are counted', async () => {
    expect(await rowsOf(FIRST_TOKEN.uid, FIRST_TOKEN.panelIds.requestCount)).toEqual([{ requests: REQUESTS }]);
  });

  test('the ten slowest have the client TTFT that their browsers saw, and what the scenario made slow', async () => {
    const rows = await rowsOf(SLOW_REQUESTS.uid, SLOW_REQUESTS.panelIds.slowest);
    const slowest = all
      .map((plan) => ({ id: traceIdOf(plan), ttftMs: (clientHalf(plan) as { ttft_ms: number }).ttft_ms }))
      .sort((a, b) => b.ttftMs - a.ttftMs)
      .slice(0, 10);
    expect(rows.map((row) => row['trace_id'])).toEqual(slowest.map(({ id }) => id));
    for (const [index, row] of rows.entries())
      expect(row['ttft_client']).toBeCloseTo(Number(slowest[index]?.ttftMs), 3);
  });

  test('the variants have their TTFT', async () => {
    const { rows } = await sql(
      `SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY server_ttft_ns) / 1e9 AS p95 FROM requests`,
    );
    expect(Number(rows[0]?.['p95'])).toBeCloseTo(percentile(all.map(ttftSeconds), 0.95), 3);
  });
});
