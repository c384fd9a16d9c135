import { METRICS } from '../../contract/metrics.ts';
import { FIRST_TOKEN } from '../config.ts';
import { shareAbove } from '../queries/figures.ts';
import type { Alert } from './alert.ts';
import { enoughOf } from './floors.ts';
import { BURN, RATIO_THRESHOLDS, SECONDS_THRESHOLDS, TTFT_OBJECTIVE } from './thresholds.ts';

const panel = (panelId: number) => ({ dashboardUid: FIRST_TOKEN.uid, panelId });
const ids = FIRST_TOKEN.panelIds;
const MODEL = '{{ $labels.model }}';
const floor = enoughOf(METRICS.ttft, 'model');

/**
 * How many times faster than allowed the objective's budget is used up, over a long and a short window at once: the lower of the
 * two, so that it takes both to fire and the short one ends it soon after the cure.
 */
function burn(long: string, short: string): string {
  const over = (window: string) =>
    `${shareAbove(METRICS.ttft, TTFT_OBJECTIVE.withinSeconds, { window, by: ['model'] })} / ${budget}`;
  return `((${over(long)} <= ${over(short)}) or ${over(short)})`;
}

/** Rounded, since 1 - 0.99 is not 0.01 to a computer. */
const budget = Number((1 - TTFT_OBJECTIVE.share).toFixed(6));
const objective = `${TTFT_OBJECTIVE.share * 100} % of the requests within ${TTFT_OBJECTIVE.withinSeconds} s`;

/** Besides the core figures, for those who want them; they ship paused. */
export const TTFT_ALERTS: readonly Alert[] = [
  {
    name: 'TtftOver2sRatioHigh',
    uid: 'ttft-over-2s-ratio-high',
    value: 'ttft_over_2s_ratio',
    comparison: '>',
    threshold: RATIO_THRESHOLDS.ttft_over_2s_ratio.bad,
    floor,
    for: '5m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `{{ humanizePercentage $VALUE }} of the requests to ${MODEL} wait over 2 s`,
    description: `Over the last hour more than one request in fifty to ${MODEL} waited longer than 2 s for its first token: a small group waits very long.`,
    panel: panel(ids.ttftOverRatios),
  },
  {
    name: 'TtftP999High',
    uid: 'ttft-p999-high',
    value: 'ttft_p999',
    comparison: '>',
    threshold: SECONDS_THRESHOLDS.ttft_p999.bad,
    metric: METRICS.ttft,
    // A thousandth of fewer than ten thousand requests is a handful.
    floor: { on: ['model'], condition: `sum by (model) (increase(${METRICS.ttft.name}_count[1h])) >= 10000` },
    for: '10m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `TTFT p99.9 of ${MODEL} is {{ printf "%.1f" $VALUE }} s`,
    description: `Over the last hour one request in a thousand to ${MODEL} waited longer than ${SECONDS_THRESHOLDS.ttft_p999.bad} s. Read the ten slowest one by one.`,
    panel: panel(ids.ttftP999),
  },
  {
    name: 'TtftBudgetFastBurn',
    uid: 'ttft-budget-fast-burn',
    value: burn('1h', '5m'),
    comparison: '>',
    threshold: BURN.fast,
    floor,
    for: '2m',
    severity: 'page',
    paused: true,
    labels: ['model'],
    summary: `${MODEL} uses up its TTFT budget {{ printf "%.1f" $VALUE }} times too fast`,
    description: `The objective is ${objective} over 30 days. At the pace of the last hour and of the last five minutes the budget of ${MODEL} is gone in two days.`,
    panel: panel(ids.ttftOverRatios),
  },
  {
    name: 'TtftBudgetSlowBurn',
    uid: 'ttft-budget-slow-burn',
    value: burn('6h', '30m'),
    comparison: '>',
    threshold: BURN.slow,
    floor,
    for: '15m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `${MODEL} uses up its TTFT budget {{ printf "%.1f" $VALUE }} times too fast for hours`,
    description: `The objective is ${objective} over 30 days. At the pace of the last six hours and of the last half hour the budget of ${MODEL} is gone in five days.`,
    panel: panel(ids.ttftOverRatios),
  },
];
