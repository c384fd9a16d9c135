import { describe, expect, test } from 'vitest';
import { formatLe, METRICS } from '../../contract/metrics.ts';
import { INGEST_JOB } from '../../dashboards/config.ts';
import { ALERTS } from '../../dashboards/rules/alerts.ts';
import { counter, firingMinutes, firingTexts, histogram } from './rulesTool.ts';

/** Minutes: good for an hour, then bad, and good again until an hour has forgotten it. */
const [BEFORE, BAD, AFTER] = [65, 60, 85];
const LAST = BEFORE + BAD + AFTER - 1;

interface Scenario {
  readonly series: (perMinute: number) => object[];
  /** A minute's events when there are plenty, and when there are too few to say anything. */
  readonly plenty: number;
  readonly few: number | null;
}

/** The histogram's samples are all within the lower edge, then a share of them only within the upper one. */
function slows(
  metric: { readonly name: string },
  labels: string,
  [lower, upper]: readonly [number, number],
  shareAbove: number,
  plenty = 100,
  few = 1,
): Scenario {
  const series = (perMinute: number) =>
    histogram(
      metric.name,
      labels,
      [formatLe(lower), formatLe(upper)],
      { minutes: BEFORE, perMinute, within: [1, 1] },
      { minutes: BAD, perMinute, within: [1 - shareAbove, 1] },
      { minutes: AFTER, perMinute, within: [1, 1] },
    );
  return { series, plenty, few };
}

const MODEL = 'model="llama 3"';
const settled = METRICS.settled.name;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  TtftP95High: slows(METRICS.ttft, MODEL, [1, 2], 0.1),
  TtftOver1sRatioHigh: slows(METRICS.ttft, MODEL, [1, 2], 0.2),
  TpotP90High: slows(METRICS.tpot, `${MODEL}, tier="vip"`, [0.25, 0.5], 0.2),
  TpotUnsteady: slows(METRICS.tpotStddev, MODEL, [0.015, 0.05], 0.1),
  StreamGapHigh: slows(METRICS.streamGapMax, MODEL, [2, 5], 0.1),
  TtftOver2sRatioHigh: slows(METRICS.ttft, MODEL, [2, 5], 0.05),
  TtftP999High: slows(METRICS.ttft, MODEL, [5, 10], 0.01, 200, 100),
  TtftBudgetFastBurn: slows(METRICS.ttft, MODEL, [2, 5], 0.5),
  TtftBudgetSlowBurn: slows(METRICS.ttft, MODEL, [2, 5], 0.5),
  TpotVipOverBudget: slows(METRICS.tpot, `${MODEL}, tier="vip"`, [0.08, 0.1], 0.2),
  TpotNormalOverBudget: slows(METRICS.tpot, `${MODEL}, tier="normal"`, [0.11, 0.15], 0.2),
  TpotTailFarFromMedian: slows(METRICS.tpot, MODEL, [0.05, 0.5], 0.1),
  TpotFirst20Slow: slows(METRICS.tpotFirst20, MODEL, [0.75, 1], 0.2),
  TpotWindowUnsteady: slows(METRICS.tpotWindow10Stddev, MODEL, [0.05, 0.1], 0.1),
  JoinCoverageLow: {
    series: (perMinute) => [
      counter(
        `${settled}{client="yes", server="direct"}`,
        { minutes: BEFORE, step: perMinute },
        { minutes: BAD, step: perMinute * 0.5 },
        { minutes: AFTER, step: perMinute },
      ),
      counter(
        `${settled}{client="yes", server="none"}`,
        { minutes: BEFORE, step: 0 },
        { minutes: BAD, step: perMinute * 0.5 },
        { minutes: AFTER, step: 0 },
      ),
    ],
    plenty: 100,
    few: 1,
  },
  IngestDown: {
    series: () => [
      { series: `up{job="${INGEST_JOB}"}`, values: `1x${BEFORE - 1} 0x${BAD - 1} 1x${AFTER - 1}` },
      { series: `up{job="other"}`, values: `1x${LAST}` },
    ],
    plenty: 1,
    few: null,
  },
  NoEvents: {
    series: (perMinute) => [
      counter(
        `${METRICS.events.name}{kind="beacon"}`,
        { minutes: BEFORE, step: perMinute },
        { minutes: BAD, step: 0 },
        { minutes: AFTER, step: perMinute },
      ),
    ],
    plenty: 100,
    few: 1,
  },
};

test('every alert has a scenario', () => {
  expect(Object.keys(SCENARIOS)).toEqual(ALERTS.map(({ name }) => name));
});

/** Asked so often; every minute costs promtool a query. */
const EVERY = 5;
const asked = Array.from({ length: Math.floor(LAST / EVERY) + 1 }, (_, index) => index * EVERY);

describe.each(ALERTS)('$name', (alert) => {
  const { series, plenty, few } = SCENARIOS[alert.name] as Scenario;
  const waitMinutes = Number.parseInt(alert.for, 10);

  test('waits, fires while it is bad, and resolves', async () => {
    const minutes = await firingMinutes(alert.name, series(plenty), asked);
    const [first = 0, last = 0] = [minutes[0], minutes.at(-1)];
    expect(first).toBeGreaterThanOrEqual(BEFORE + waitMinutes);
    expect(first).toBeLessThan(BEFORE + BAD);
    // Windows of one hour, or of half an hour behind six, look back for so long.
    expect(last).toBeLessThan(BEFORE + BAD + 65);
    expect(minutes).toHaveLength((last - first) / EVERY + 1);
  });

  test('its texts are filled in', async () => {
    const text = await firingTexts(alert.name, series(plenty), BEFORE + BAD - 1);
    expect(text).toContain(`runbook.md#${alert.name.toLowerCase()}`);
    expect(text).toMatch(/summary="[^"]+"/);
    expect(text).not.toMatch(/error|\{\{|%!|<no value>/i);
    if (alert.labels.length > 0) expect(text).toContain('var-model=llama+3');
  });

  if (few === null) return;
  test('is quiet below the floor of traffic', async () => {
    expect(await firingMinutes(alert.name, series(few), asked)).toEqual([]);
  });
});

test('a target that is not configured any more is down as well', async () => {
  const others = [{ series: 'up{job="other"}', values: '1x30' }];
  expect(await firingMinutes('IngestDown', others, [1, 10])).toEqual([10]);
});
