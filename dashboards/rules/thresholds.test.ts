import { describe, expect, test } from 'vitest';
import { FIRST_TOKEN } from '../config.ts';
import { firstToken } from '../firstToken.ts';
import { FIGURES, type Figure } from '../queries/figures.ts';
import { ALERTS } from './alerts.ts';
import { RATIO_THRESHOLDS, SECONDS_THRESHOLDS } from './thresholds.ts';

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

describe.each(ALERTS)('alert $name', (alert) => {
  test('fires at an edge of the histogram behind its figure', () => {
    expect(FIGURES[alert.figure].metric.buckets).toContain(alert.above);
  });
  test('leads to a panel that exists', () => {
    expect(alert.panel.dashboardUid).toBe(FIRST_TOKEN.uid);
    expect(firstToken().panels?.map((panel) => panel.id)).toContain(alert.panel.panelId);
  });
  test('has a uid that Grafana takes', () => expect(alert.uid).toMatch(/^[a-z0-9-]{1,40}$/));
});
