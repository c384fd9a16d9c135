import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatLe, METRICS } from '../../contract/metrics.ts';
import { dashboards } from '../../dashboards/artefacts.ts';
import { FIRST_TOKEN } from '../../dashboards/config.ts';
import { type Interpolation, interpolatePromql } from '../../dashboards/interpolation.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

const DEADLINE_MS = 60_000;
const POLL_EVERY_MS = 250;
/** Of the 100 samples that each scrape adds to a histogram, so many are within a bound: even up to 1, then to the next edge. */
const atMost = (bound: number) => Math.min(100, Math.round(bound * 90));
const VALUES: Readonly<Record<string, readonly string[]>> = {
  model: ['llama-3.1', "o'brien"],
  route: ['/api/chat?a=(b)'],
  region: ['eu'],
  device: ['mobile'],
};

let target: Server;
let prometheus: RunningPrometheus;

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
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs: [{job_name: ingest, static_configs: [{targets: ['127.0.0.1:${port}']}]}]
`,
  });
});

afterAll(async () => {
  await prometheus?.stop();
  await new Promise((resolve) => target.close(resolve));
});

/** Every histogram of the catalogue, one series per model, after so many scrapes. */
function exposition(scrapes: number): string {
  const lines: string[] = [];
  for (const metric of Object.values(METRICS)) {
    if (metric.type !== 'histogram') continue;
    lines.push(`# TYPE ${metric.name} histogram`);
    for (const model of VALUES['model'] ?? []) {
      const labels = metric.labels.map(
        (label) => `${label}="${label === 'model' ? model : (VALUES[label]?.[0] ?? 'x')}"`,
      );
      for (const bound of [...metric.buckets, Number.POSITIVE_INFINITY]) {
        const set = [...labels, `le="${formatLe(bound)}"`].join(',');
        lines.push(`${metric.name}_bucket{${set}} ${atMost(bound) * scrapes}`);
      }
      lines.push(`${metric.name}_sum{${labels}} ${50 * scrapes}`, `${metric.name}_count{${labels}} ${100 * scrapes}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

interface Sample {
  metric: Record<string, string>;
  value?: [number, string];
  values?: [number, string][];
}

async function ask(path: string, parameters: Record<string, string>): Promise<Sample[]> {
  const response = await fetch(`${prometheus.url}/api/v1/${path}`, {
    method: 'POST',
    body: new URLSearchParams(parameters),
  });
  const answer = (await response.json()) as { status: string; error?: string; data: { result: Sample[] } };
  expect(answer.error, parameters['query']).toBeUndefined();
  return answer.data.result;
}

/** Asks again until there is an answer: the first rate needs two scrapes. */
async function eventually(path: string, parameters: () => Record<string, string>): Promise<Sample[]> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await delay(POLL_EVERY_MS)) {
    const samples = await ask(path, parameters());
    if (samples.length > 0) return samples;
  }
  throw new Error(`No answer to ${JSON.stringify(parameters())}`);
}

interface PromTarget {
  expr?: string;
  instant?: boolean;
}
const targets = dashboards().flatMap((dashboard) =>
  (dashboard.panels ?? []).flatMap((panel) =>
    panel.type === 'row'
      ? []
      : (((panel as Panel).targets ?? []) as PromTarget[]).flatMap(({ expr, instant }) =>
          expr === undefined
            ? []
            : [{ title: (panel as Panel).title ?? '', id: panel.id ?? 0, expr, instant: instant === true }],
        ),
  ),
);

const ids = FIRST_TOKEN.panelIds;
/** Worked out by hand from the distribution above: 90 of 100 samples are within 1, and between edges they lie evenly. */
const EXPECTED: Readonly<Record<number, number>> = {
  [ids.ttftP95]: 1.25,
  [ids.ttftOver1sRatio]: 0.1,
  [ids.ttftP999]: 1 + (0.5 * 9.9) / 10,
  [ids.tpotP90]: 1,
  [ids.tpotStddev]: 1 + (1.5 * 5) / 10,
  [ids.streamGapMax]: 1 + (0.5 * 9) / 10,
};

const selections: readonly (readonly [string, Interpolation['variables']])[] = [
  ['All', { ...VALUES, model: [...(VALUES['model'] ?? []), 'unknown', 'other'] }],
  ['one with dots', { ...VALUES, model: ['llama-3.1'] }],
  ['one with a quote', { ...VALUES, model: ["o'brien"] }],
];

describe.each(targets)('$title', ({ id, expr, instant }) => {
  const query = (variables: Interpolation['variables']) => {
    const to = new Date();
    const from = new Date(to.getTime() - 300_000);
    return interpolatePromql(expr, { from, to, timezone: 'utc', variables }, '4s');
  };

  test.each(selections)('%s', async (_, variables) => {
    if (instant) {
      const [sample, ...rest] = await eventually('query', () => ({ query: query(variables) }));
      expect(rest).toEqual([]);
      expect(Number(sample?.value?.[1])).toBeCloseTo(EXPECTED[id] ?? Number.NaN, 9);
      return;
    }
    const samples = await eventually('query_range', () => {
      const now = Date.now() / 1000;
      return { query: query(variables), start: String(now - 10), end: String(now), step: '1' };
    });
    expect(samples.map((sample) => sample.metric['le'])).toContain('1.0');
    expect(samples.every((sample) => Object.keys(sample.metric).length === 1)).toBe(true);
  });

  test('an unknown model has no number rather than a wrong one', async () => {
    const variables = { ...VALUES, model: ['nobody'] };
    await eventually('query', () => ({ query: query({ ...VALUES, model: ['llama-3.1'] }) }));
    expect(await ask('query', { query: query(variables) })).toEqual([]);
  });
});
