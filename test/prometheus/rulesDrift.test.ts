import { describe, expect, test } from 'vitest';
import { formatLe, METRICS } from '../../contract/metrics.ts';
import { SECONDS_THRESHOLDS } from '../../dashboards/rules/thresholds.ts';
import { firingMinutes } from './rulesTool.ts';

/**
 * The alert on the p95 against one on the average of the same hour, with the same wait: who notices first? Requests are as many as 200 a
 * minute, their TTFT as skewed as it usually is.
 */
const PER_MINUTE = 200;
const MINUTES = 300;
const BASELINE_MINUTES = 70;
const MEDIAN = 0.4;
const SIGMA = 0.5;
const { bad } = SECONDS_THRESHOLDS.ttft_p95;

const normal = (x: number): number => {
  // Abramowitz and Stegun 7.1.26; its error of 1e-7 is nothing beside a bucket's width.
  const t = 1 / (1 + 0.3275911 * Math.abs(x / Math.SQRT2));
  const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = 1 - tail * Math.exp((-x * x) / 2);
  return x >= 0 ? (1 + erf) / 2 : (1 - erf) / 2;
};
const within = (seconds: number, median: number) => normal(Math.log(seconds / median) / SIGMA);
const mean = (median: number) => median * Math.exp(SIGMA ** 2 / 2);
const P95 = MEDIAN * Math.exp(SIGMA * 1.6448536);
/** As close above the average's normal value as the alert's threshold is above the normal p95. */
const CALIBRATED = mean(MEDIAN) * (bad / P95);

/** In each minute a share of the requests is slow, with a median of its own. */
interface Mix {
  readonly slowShare: number;
  readonly slowMedian: number;
  /** That of the others; the usual one by default. */
  readonly usualMedian?: number;
}

function series(mixAt: (minute: number) => Mix): object[] {
  const { name, buckets } = METRICS.ttft;
  const add = (rowOf: (mix: Mix) => number) => {
    let total = 0;
    return Array.from({ length: MINUTES }, (_, minute) => {
      total += PER_MINUTE * rowOf(mixAt(minute));
      return total.toFixed(6);
    }).join(' ');
  };
  const share = (seconds: number) => (mix: Mix) =>
    (1 - mix.slowShare) * within(seconds, mix.usualMedian ?? MEDIAN) + mix.slowShare * within(seconds, mix.slowMedian);
  return [
    ...buckets.map((le) => ({ series: `${name}_bucket{model="m", le="${formatLe(le)}"}`, values: add(share(le)) })),
    { series: `${name}_bucket{model="m", le="+Inf"}`, values: add(() => 1) },
    { series: `${name}_count{model="m"}`, values: add(() => 1) },
    {
      series: `${name}_sum{model="m"}`,
      values: add(
        (mix) => (1 - mix.slowShare) * mean(mix.usualMedian ?? MEDIAN) + mix.slowShare * mean(mix.slowMedian),
      ),
    },
  ];
}

/** The control: the average of the hour above a threshold, for as long. */
function control(alert: string, threshold: number): { name: string }[] {
  const { name } = METRICS.ttft;
  const of = (part: string) => `sum by (model) (rate(${name}_${part}[1h]))`;
  const expr = `${of('sum')} / ${of('count')} > ${threshold}`;
  const rules = [{ alert, expr, for: '5m' }];
  const group = { name: alert, interval: '1m', rules };
  return [group];
}

const everyMinute = Array.from({ length: MINUTES }, (_, minute) => minute);

/** The first minute after the drift began, or none. */
async function firstMinutes(
  mixAt: (minute: number) => Mix,
  controlThreshold: number,
): Promise<[p95: number, average: number]> {
  const input = series(mixAt);
  const more = control('TtftAverageHigh', controlThreshold);
  const first = async (alert: string) =>
    (await firingMinutes(alert, input, everyMinute, more))[0] ?? Number.POSITIVE_INFINITY;
  return [(await first('TtftP95High')) - BASELINE_MINUTES, (await first('TtftAverageHigh')) - BASELINE_MINUTES];
}

const since = (minute: number) => Math.max(0, minute - BASELINE_MINUTES);
const LEAD_TO_BEAT_MINUTES = 12;

test('before anything drifts nothing fires', async () => {
  expect(P95).toBeLessThan(bad);
  const calm = () => ({ slowShare: 0, slowMedian: MEDIAN });
  expect(await firstMinutes(calm, CALIBRATED)).toEqual([Infinity, Infinity]);
});

test('the p95 jumps while the average stays: the alert fires, and no average does', async () => {
  const [slowShare, slowMedian] = [0.06, 3];
  // The others are so much faster that the average is the same to the last digit.
  const usualMedian = (MEDIAN - slowShare * slowMedian) / (1 - slowShare);
  const calm = { slowShare: 0, slowMedian };
  const [p95, average] = await firstMinutes(
    (minute) => (since(minute) > 0 ? { slowShare, slowMedian, usualMedian } : calm),
    CALIBRATED,
  );
  expect(p95).toBeLessThan(60);
  expect(average).toBe(Number.POSITIVE_INFINITY);
});

describe('a slow drift', () => {
  const all = (minute: number): Mix => ({ slowShare: 1, slowMedian: MEDIAN * 1.01 ** since(minute) });
  // From minute to minute a thousandth more of the requests finds a cold cache.
  const tail = (minute: number): Mix => ({ slowShare: Math.min(0.3, since(minute) * 0.001), slowMedian: 1.5 });

  test.each([
    ['of the tail, against an average whose threshold is as close', tail, CALIBRATED, LEAD_TO_BEAT_MINUTES],
    ['of the tail, against an average with the same threshold', tail, bad, LEAD_TO_BEAT_MINUTES],
    ['of everything by 1 % a minute, against an average with the same threshold', all, bad, LEAD_TO_BEAT_MINUTES],
    // Nobody leads where all requests slow down alike; the p95 only must not lag.
    ['of everything by 1 % a minute, against an average whose threshold is as close', all, CALIBRATED, -5],
  ] as const)('%s', async (name, drift, threshold, leadToBeat) => {
    const [p95, average] = await firstMinutes(drift, threshold);
    const lead = average - p95;
    console.log(
      `Drift ${name} (${threshold.toFixed(3)} s): p95 after ${p95} min, average after ${average} min, lead ${lead} min`,
    );
    expect(lead).toBeGreaterThan(leadToBeat);
  });
});
