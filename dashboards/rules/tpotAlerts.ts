import { METRICS } from '../../contract/metrics.ts';
import { FIRST_TOKEN } from '../config.ts';
import { bareQuantile } from '../queries/quantile.ts';
import type { Alert } from './alert.ts';
import { enoughOf } from './floors.ts';
import { TPOT_BUDGET_SECONDS, TPOT_FIRST20_SECONDS, TPOT_TAIL_RATIO, WINDOW10_STDDEV_SECONDS } from './thresholds.ts';

const panel = (panelId: number) => ({ dashboardUid: FIRST_TOKEN.uid, panelId });
const ids = FIRST_TOKEN.panelIds;
const MODEL = '{{ $labels.model }}';
const HOUR = { window: '1h', by: ['model'] };

/** The pace of streams beyond its p90; they ship paused. */
export const TPOT_ALERTS: readonly Alert[] = [
  budgetAlert('TpotVipOverBudget', 'tpot-vip-over-budget', 'vip'),
  budgetAlert('TpotNormalOverBudget', 'tpot-normal-over-budget', 'normal'),
  {
    name: 'TpotTailFarFromMedian',
    uid: 'tpot-tail-far-from-median',
    value: `${bareQuantile(METRICS.tpot, 0.99, HOUR)} / ${bareQuantile(METRICS.tpot, 0.5, HOUR)}`,
    comparison: '>',
    threshold: TPOT_TAIL_RATIO,
    floor: enoughOf(METRICS.tpot, 'model'),
    for: '10m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `TPOT p99 of ${MODEL} is {{ printf "%.1f" $VALUE }} times its median`,
    description: `Over the last hour some streams of ${MODEL} were far slower than the usual one: they share batches with long prompts, or were preempted.`,
    panel: panel(ids.tpotCurves),
  },
  {
    name: 'TpotFirst20Slow',
    uid: 'tpot-first20-slow',
    value: bareQuantile(METRICS.tpotFirst20, 0.9, HOUR),
    comparison: '>',
    threshold: TPOT_FIRST20_SECONDS,
    metric: METRICS.tpotFirst20,
    floor: enoughOf(METRICS.tpotFirst20, 'model'),
    for: '10m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `The first 20 tokens of ${MODEL} take {{ printf "%.2f" $VALUE }} s each`,
    description: `Over the last hour more than one stream in ten of ${MODEL} began slower than ${TPOT_FIRST20_SECONDS} s per token, one and a half times the TTFT aimed at: the start stalls after its first token.`,
    panel: panel(ids.tpotCurves),
  },
  {
    name: 'TpotWindowUnsteady',
    uid: 'tpot-window-unsteady',
    value: bareQuantile(METRICS.tpotWindow10Stddev, 0.95, HOUR),
    comparison: '>',
    threshold: WINDOW10_STDDEV_SECONDS,
    metric: METRICS.tpotWindow10Stddev,
    floor: enoughOf(METRICS.tpotWindow10Stddev, 'model'),
    for: '10m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `Streams of ${MODEL} stutter for ten tokens: {{ printf "%.3f" $VALUE }} s`,
    description: `Over the last hour more than one stream in twenty of ${MODEL} had ten neighbouring gaps with a standard deviation over ${WINDOW10_STDDEV_SECONDS} s, however steady the rest was.`,
    panel: panel(ids.tpotStddev),
  },
];

function budgetAlert(name: string, uid: string, tier: keyof typeof TPOT_BUDGET_SECONDS): Alert {
  const budget = TPOT_BUDGET_SECONDS[tier];
  return {
    name,
    uid,
    value: `tpot_p90{tier="${tier}"}`,
    comparison: '>',
    threshold: budget,
    metric: METRICS.tpot,
    floor: enoughOf(METRICS.tpot, 'model', 'tier'),
    for: '10m',
    severity: 'ticket',
    paused: true,
    labels: ['model'],
    summary: `TPOT p90 of ${MODEL} for tier ${tier} is {{ printf "%.3f" $VALUE }} s`,
    description: `Over the last hour more than one stream in ten of ${MODEL} to users of tier ${tier} was slower than the ${budget * 1000} ms per token that they were promised.`,
    panel: panel(ids.tpotP90),
  };
}
