import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboards } from '../../dashboards/artefacts.ts';
import { INGEST_HEALTH, INGEST_JOB } from '../../dashboards/config.ts';
import type { Frame } from '../../dashboards/runner/frame.ts';
import type { Interpolation } from '../../dashboards/runner/interpolation.ts';
import type { Series } from '../../dashboards/runner/prometheusFrames.ts';
import { runPanel, type Sources, targetsOf } from '../../dashboards/runner/runPanel.ts';
import { EXPECTED, type Expected, INSTANCE } from './dashboardExpectations.ts';
import { exposition, VALUES } from './dashboardExposition.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

const DEADLINE_MS = 60_000;
const POLL_EVERY_MS = 250;
const SCRAPE_SECONDS = 1;
/** A rate per second follows the clock of the scrapes, which on a busy machine is a rough one. */
const NEAR_SHARE = 0.5;

let target: Server;
let prometheus: RunningPrometheus;
let empty: RunningPrometheus;

beforeAll(async () => {
  let scrapes = 0;
  target = createServer((_, response) => {
    scrapes += 1;
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(exposition(scrapes));
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const { port } = target.address() as AddressInfo;
  prometheus = await startPrometheus({
    config: `
global: {scrape_interval: ${SCRAPE_SECONDS}s, scrape_timeout: 1s}
scrape_configs: [{job_name: ${INGEST_JOB}, static_configs: [{targets: ['127.0.0.1:${port}'], labels: {instance: '${INSTANCE}'}}]}]
`,
  });
  empty = await startPrometheus({ config: 'global: {}' });
});

afterAll(async () => {
  await Promise.all([prometheus?.stop(), empty?.stop()]);
  await new Promise((resolve) => target.close(resolve));
});

function sourcesOf(running: RunningPrometheus): Sources {
  return {
    scrapeSeconds: SCRAPE_SECONDS,
    async promql(path, parameters) {
      const response = await fetch(`${running.url}/api/v1/${path}`, {
        method: 'POST',
        body: new URLSearchParams(parameters),
      });
      const answer = (await response.json()) as { error?: string; data: { result: Series[] } };
      expect(answer.error, parameters['query']).toBeUndefined();
      return answer.data.result;
    },
  };
}

/** The last quarter of a minute: rates reach back as far as the panel's step. */
function recently(variables: Interpolation['variables']): Interpolation {
  const to = new Date();
  return { from: new Date(to.getTime() - 15_000), to, timezone: 'utc', variables };
}

const run = (running: RunningPrometheus, panel: Panel, variables: Interpolation['variables']): Promise<Frame[]> =>
  // Steps of a second, since this Prometheus has only run for seconds.
  runPanel({ ...panel, interval: '1s' }, recently(variables), sourcesOf(running));

const isThere = (frame: Frame) => frame.fields.some((field) => field.values.length > 0);

/** Runs again until every series is there that should be: the first rate needs two scrapes. */
async function eventually(panel: Panel, variables: Interpolation['variables'], series: number): Promise<Frame[]> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await delay(POLL_EVERY_MS)) {
    const frames = await run(prometheus, panel, variables);
    if (frames.filter(isThere).length >= series) return frames;
  }
  throw new Error(`No answer to ${panel.title}`);
}

const all = { ...VALUES, model: [...VALUES.model, 'unknown', 'other'], variant_a: ['fp16'], variant_b: ['int4'] };
const selections: readonly (readonly [string, Interpolation['variables']])[] = [
  ['All', all],
  ['one with dots', { ...all, model: ['llama-3.1'] }],
  ['one with a quote', { ...all, model: ["o'brien"] }],
];

const cases = dashboards().flatMap((dashboard) =>
  (dashboard.panels ?? [])
    .filter((panel): panel is Panel => panel.type !== 'row')
    .filter((panel) => targetsOf(panel).some(({ datasource }) => datasource.type === 'prometheus'))
    .map((panel) => ({ uid: dashboard.uid ?? '', title: panel.title ?? '', panel })),
);

describe.each(cases)('$uid: $title', ({ uid, panel }) => {
  const isHeatmap = panel.type === 'heatmap';
  const expected: Expected = EXPECTED[uid]?.[panel.id ?? 0] ?? {};
  // A heatmap and a table are one frame each.
  const series = isHeatmap || panel.type === 'table' ? 1 : Object.keys(expected).length;

  test.each(selections)('%s', async (_, variables) => {
    const frames = await eventually(panel, variables, series);
    if (isHeatmap) return expectDistribution(frames);
    expect(series, 'an expected value').toBeGreaterThan(0);
    const found = lastValues(panel, frames);
    expect([...found.keys()].sort()).toEqual(Object.keys(expected).sort());
    for (const [name, value] of Object.entries(expected)) {
      const actual = found.get(name) ?? Number.NaN;
      if (typeof value === 'number') expect(actual, name).toBeCloseTo(value, 9);
      else {
        const chosen = VALUES.model.filter((model) => variables['model']?.includes(model)).length;
        const near = value.near * (value.perModel ? chosen : 1);
        expect(Math.abs(actual - near), `${name}: ${actual}`).toBeLessThan(near * NEAR_SHARE);
      }
    }
  });

  test('without data it is empty, not an error', async () => {
    expect((await run(empty, panel, all)).filter(isThere).filter(() => !isAlarm(uid, panel))).toEqual([]);
  });

  test('an unknown model has no number rather than a wrong one', async () => {
    const filters = targetsOf(panel).every(({ expr }) => expr?.includes('$model'));
    if (!filters) return;
    await eventually(panel, all, series);
    expect((await run(prometheus, panel, { ...all, model: ['nobody'] })).filter(isThere)).toEqual([]);
  });
});

/** That no replica is up is known even where nothing else is. */
function isAlarm(uid: string, panel: Panel): boolean {
  return uid === INGEST_HEALTH.uid && panel.id === INGEST_HEALTH.panelIds.up;
}

/** Heights of the buckets: even up to 1, nothing above its next edge. */
function expectDistribution(frames: readonly Frame[]): void {
  const [time, ...rows] = frames[0]?.fields ?? [];
  expect(time?.type).toBe('time');
  expect(rows.map(({ name }) => name)).toContain('1.0');
  const last = rows.map(({ name, values }) => [name, Number(values.at(-1))] as const);
  const total = last.reduce((sum, [, count]) => sum + count, 0);
  const share = (name: string) => (last.find(([le]) => le === name)?.[1] ?? 0) / total;
  expect(share('1.0')).toBeCloseTo((90 - 68) / 100, 9);
  expect(share('1.5')).toBeCloseTo(0.1, 9);
  expect(share('2.0')).toBeCloseTo(0, 9);
}

function lastValues(panel: Panel, frames: readonly Frame[]): Map<string, number> {
  const numbers = frames.flatMap(({ fields }) => fields.filter(({ type }) => type === 'number'));
  if (panel.type === 'table') {
    return new Map(
      frames.flatMap(({ fields }) => {
        const values = fields.find(({ name }) => name === 'Value')?.values ?? [];
        const labels = fields.filter(({ type }) => type === 'string');
        return values.map((value, row) => [labels.map((label) => label.values[row]).join(' '), Number(value)] as const);
      }),
    );
  }
  return new Map(
    numbers.map(({ name, values }) => [panel.type === 'stat' ? 'value' : name, Number(values.at(-1))] as const),
  );
}
