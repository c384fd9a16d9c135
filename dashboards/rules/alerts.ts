import { METRICS } from '../../contract/metrics.ts';
import { FIRST_TOKEN } from '../config.ts';
import type { Figure } from '../queries/figures.ts';
import { MIN_REQUESTS_PER_HOUR, SECONDS_THRESHOLDS } from './thresholds.ts';

export interface Alert {
  /** Name in Prometheus; in lower case its anchor in the runbook. */
  readonly name: string;
  /** Uid in Grafana, at most 40 characters; never changes. */
  readonly uid: string;
  /** The figure that is watched, by its recorded series. */
  readonly figure: Figure;
  /** PromQL condition under which the figure counts at all, joined by `model`. */
  readonly enoughTraffic: string;
  /** It fires above this, in the figure's unit. */
  readonly above: number;
  readonly for: string;
  readonly severity: 'page' | 'ticket';
  /** Text of both systems' templates; `$VALUE` becomes each one's word for the figure. */
  readonly summary: string;
  readonly description: string;
  /** The panel that shows the figure. */
  readonly panel: { readonly dashboardUid: string; readonly panelId: number };
}

const requestsOfTheHour = `sum by (model) (increase(${METRICS.ttft.name}_count[1h]))`;

export const ALERTS: readonly Alert[] = [
  {
    name: 'TtftP95High',
    uid: 'ttft-p95-high',
    figure: 'ttft_p95',
    enoughTraffic: `${requestsOfTheHour} >= ${MIN_REQUESTS_PER_HOUR}`,
    above: SECONDS_THRESHOLDS.ttft_p95.bad,
    for: '5m',
    severity: 'page',
    summary: 'TTFT p95 of {{ $labels.model }} is {{ printf "%.2f" $VALUE }} s',
    description:
      'Over the last hour more than one request in twenty to {{ $labels.model }} waited longer than ' +
      `${SECONDS_THRESHOLDS.ttft_p95.bad} s for its first token. The waterfall of the dashboard names the stage that takes the time.`,
    panel: { dashboardUid: FIRST_TOKEN.uid, panelId: FIRST_TOKEN.panelIds.ttftP95 },
  },
];
