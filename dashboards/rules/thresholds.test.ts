import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { METRICS } from '../../contract/metrics.ts';
import { dashboards } from '../artefacts.ts';
import { RUNBOOK } from '../config.ts';
import { labelsOfSeries, selectorsOf } from '../promqlNames.ts';
import { FIGURES, type Figure } from '../queries/figures.ts';
import { firing } from './alert.ts';
import { ALERTS } from './alerts.ts';
import {
  RATIO_THRESHOLDS,
  READING_SECONDS,
  SECONDS_THRESHOLDS,
  TTFT_OBJECTIVE,
  TTFT_TARGET_SECONDS,
} from './thresholds.ts';

describe.each(Object.entries(SECONDS_THRESHOLDS))('%s', (figure, { metric, watch, bad }) => {
  test('is held against its own histogram', () => expect(FIGURES[figure as Figure].metric).toBe(metric));
  test('both steps are edges of its buckets', () => {
    expect(metric.buckets).toContain(watch);
    expect(metric.buckets).toContain(bad);
    expect(watch).toBeLessThan(bad);
  });
});

test.each(Object.entries(RATIO_THRESHOLDS))('%s is a share', (_, { watch, bad }) => {
  expect(watch).toBeGreaterThan(0);
  expect(watch).toBeLessThan(bad);
  expect(bad).toBeLessThan(1);
});

test.each(Object.entries(FIGURES))(
  '%s keeps labels that its metric has, and shares are cut at an edge',
  (_, definition) => {
    expect(definition.metric.labels).toEqual(expect.arrayContaining([...definition.keep]));
    if ('shareAboveSeconds' in definition.measure) {
      expect(definition.metric.buckets).toContain(definition.measure.shareAboveSeconds);
    }
  },
);

test('the other thresholds in seconds are edges of what they are held against', () => {
  expect(METRICS.tpot.buckets).toEqual(expect.arrayContaining(Object.values(READING_SECONDS)));
  expect(METRICS.ttft.buckets).toEqual(expect.arrayContaining([TTFT_OBJECTIVE.withinSeconds, TTFT_TARGET_SECONDS]));
});

describe.each(ALERTS)('alert $name', (alert) => {
  test('fires at an edge of the histogram behind its value', () => {
    if (alert.metric) expect(alert.metric.buckets).toContain(alert.threshold);
    else expect(alert.value).not.toMatch(/^histogram_quantile\([^/]*$/);
  });
  test('leads to a panel that exists, and to variables that its dashboard has', () => {
    const dashboard = dashboards().find(({ uid }) => uid === alert.panel.dashboardUid);
    expect(dashboard?.panels?.map((panel) => panel.id)).toContain(alert.panel.panelId);
    const variables = dashboard?.templating?.list?.map(({ name }) => name);
    for (const label of alert.labels) expect(variables).toContain(label);
  });
  test('has a uid that Grafana takes', () => expect(alert.uid).toMatch(/^[a-z0-9-]{1,40}$/));
  test('reads what someone exports or records', () => {
    for (const { name, labels } of selectorsOf(firing(alert))) {
      const known = labelsOfSeries(name);
      expect(known, name).toBeDefined();
      for (const label of labels) expect(known, `label of ${name}`).toContain(label);
    }
  });
  test('has a chapter in the runbook', async () => {
    const runbook = await readFile(new URL(`../../${RUNBOOK}`, import.meta.url), 'utf8');
    expect(runbook).toMatch(new RegExp(`^## ${alert.name}$`, 'm'));
  });
});

test('names and uids are used once', () => {
  for (const key of ['name', 'uid'] as const)
    expect(new Set(ALERTS.map((alert) => alert[key])).size).toBe(ALERTS.length);
});

test('two alerts page, three make tickets, and everything else ships paused', () => {
  const live = ALERTS.filter(({ paused }) => !paused).map(({ name, severity }) => [name, severity]);
  expect(live).toEqual([
    ['TtftP95High', 'page'],
    ['TtftOver1sRatioHigh', 'page'],
    ['TpotP90High', 'ticket'],
    ['TpotUnsteady', 'ticket'],
    ['StreamGapHigh', 'ticket'],
  ]);
});
