import { METRICS } from '../../contract/metrics.ts';
import { FIRST_TOKEN } from '../config.ts';
import type { Alert } from './alert.ts';
import { enoughOf } from './floors.ts';
import { RATIO_THRESHOLDS, SECONDS_THRESHOLDS } from './thresholds.ts';

const panel = (panelId: number) => ({ dashboardUid: FIRST_TOKEN.uid, panelId });
const ids = FIRST_TOKEN.panelIds;
const MODEL = '{{ $labels.model }}';

/** One alert per core figure. The two of TTFT wake someone, the others make tickets; fewer alarms are believed more. */
export const CORE_ALERTS: readonly Alert[] = [
  {
    name: 'TtftP95High',
    uid: 'ttft-p95-high',
    value: 'ttft_p95',
    comparison: '>',
    threshold: SECONDS_THRESHOLDS.ttft_p95.bad,
    metric: METRICS.ttft,
    floor: enoughOf(METRICS.ttft, 'model'),
    for: '5m',
    severity: 'page',
    paused: false,
    labels: ['model'],
    summary: `TTFT p95 of ${MODEL} is {{ printf "%.2f" $VALUE }} s`,
    description:
      `Over the last hour more than one request in twenty to ${MODEL} waited longer than ` +
      `${SECONDS_THRESHOLDS.ttft_p95.bad} s for its first token. The waterfall of the dashboard names the stage that takes the time.`,
    panel: panel(ids.ttftP95),
  },
  {
    name: 'TtftOver1sRatioHigh',
    uid: 'ttft-over-1s-ratio-high',
    value: 'ttft_over_1s_ratio',
    comparison: '>',
    threshold: RATIO_THRESHOLDS.ttft_over_1s_ratio.bad,
    floor: enoughOf(METRICS.ttft, 'model'),
    for: '2m',
    severity: 'page',
    paused: false,
    labels: ['model'],
    summary: `{{ humanizePercentage $VALUE }} of the requests to ${MODEL} wait over 1 s`,
    description:
      `Over the last hour more than one request in ten to ${MODEL} waited longer than 1 s for its first token: twice what the p95 allows. ` +
      'The heatmap of the dashboard says whether it is all requests or a second kind of them.',
    panel: panel(ids.ttftOver1sRatio),
  },
  {
    name: 'TpotP90High',
    uid: 'tpot-p90-high',
    value: 'tpot_p90',
    comparison: '>',
    threshold: SECONDS_THRESHOLDS.tpot_p90.bad,
    metric: METRICS.tpot,
    floor: enoughOf(METRICS.tpot, 'model', 'tier'),
    for: '10m',
    severity: 'ticket',
    paused: false,
    labels: ['model'],
    summary: `TPOT p90 of ${MODEL}, tier {{ $labels.tier }}, is {{ printf "%.3f" $VALUE }} s`,
    description:
      `Over the last hour more than one stream in ten of ${MODEL} to users of tier {{ $labels.tier }} was slower than ` +
      `${SECONDS_THRESHOLDS.tpot_p90.bad} s per token, which is slower than they read.`,
    panel: panel(ids.tpotP90),
  },
  {
    name: 'TpotUnsteady',
    uid: 'tpot-unsteady',
    value: 'tpot_stddev',
    comparison: '>',
    threshold: SECONDS_THRESHOLDS.tpot_stddev.bad,
    metric: METRICS.tpotStddev,
    floor: enoughOf(METRICS.tpotStddev, 'model'),
    for: '10m',
    severity: 'ticket',
    paused: false,
    labels: ['model'],
    summary: `Streams of ${MODEL} are unsteady: {{ printf "%.3f" $VALUE }} s`,
    description:
      `Over the last hour the gaps within more than one stream in twenty of ${MODEL} had a standard deviation over ` +
      `${SECONDS_THRESHOLDS.tpot_stddev.bad} s: text comes in bursts.`,
    panel: panel(ids.tpotStddev),
  },
  {
    name: 'StreamGapHigh',
    uid: 'stream-gap-high',
    value: 'stream_gap_max',
    comparison: '>',
    threshold: SECONDS_THRESHOLDS.stream_gap_max.bad,
    metric: METRICS.streamGapMax,
    floor: enoughOf(METRICS.streamGapMax, 'model'),
    for: '10m',
    severity: 'ticket',
    paused: false,
    labels: ['model'],
    summary: `Streams of ${MODEL} pause for {{ printf "%.1f" $VALUE }} s`,
    description:
      `Over the last hour more than one stream in a hundred of ${MODEL} stood still for longer than ` +
      `${SECONDS_THRESHOLDS.stream_gap_max.bad} s. The panel beside the figure opens the one with the longest gap.`,
    panel: panel(ids.streamGapMax),
  },
];
