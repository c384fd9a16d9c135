import type { HistogramDefinition } from '../../contract/metrics.ts';

export interface Alert {
  /** Name in Prometheus; in lower case its anchor in the runbook. */
  readonly name: string;
  /** Uid in Grafana, at most 40 characters; never changes. */
  readonly uid: string;
  /** PromQL of what is watched. Binds tighter than a comparison, so an `or` in it stands in brackets. */
  readonly value: string;
  /** It fires while the value is above (`>`) or below (`<`) the threshold, in the value's unit. */
  readonly comparison: '>' | '<';
  readonly threshold: number;
  /** The histogram of which the threshold is an edge, where the value is one of its quantiles. */
  readonly metric?: HistogramDefinition;
  /** Under which condition the value counts at all: quiet hours stay quiet. */
  readonly floor?: Floor;
  readonly for: string;
  readonly severity: 'page' | 'ticket';
  /** Ships switched off; see docs/dashboards.md for how to switch it on. */
  readonly paused: boolean;
  /** Labels of the value that are variables of the panel's dashboard. */
  readonly labels: readonly 'model'[];
  /** Text of both systems' templates; `$VALUE` becomes each one's word for the value. */
  readonly summary: string;
  readonly description: string;
  /** The panel that shows the value. */
  readonly panel: { readonly dashboardUid: string; readonly panelId: number };
}

export interface Floor {
  /** Labels by which value and condition are joined; none joins one number to one number. */
  readonly on: readonly string[];
  /** PromQL of a comparison. */
  readonly condition: string;
}

/** What both Prometheus and Grafana evaluate: the value, where there is enough traffic, before it is compared. */
export function watched({ value, floor }: Alert): string {
  return `${value}${condition(floor)}`;
}

/** The whole rule as Prometheus has it. */
export function firing({ value, comparison, threshold, floor }: Alert): string {
  return `${value} ${comparison} ${threshold}${condition(floor)}`;
}

function condition(floor: Floor | undefined): string {
  return floor === undefined ? '' : ` and on (${floor.on.join(', ')}) ${floor.condition}`;
}
