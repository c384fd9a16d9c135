import type { HistogramDefinition } from '../../contract/metrics.ts';

export interface QuantileScope {
  /** Label matchers, without braces. */
  readonly matchers?: string;
  /** Labels that the result keeps. */
  readonly by?: readonly string[];
  /** Range of the rate; that of a panel over time by default. */
  readonly window?: string;
}

/** Per-second growth of one of a histogram's series. */
export function rateOf(series: string, { matchers = '', window = '$__rate_interval' }: QuantileScope = {}): string {
  return `rate(${series}${matchers === '' ? '' : `{${matchers}}`}[${window}])`;
}

/** PromQL of a quantile in seconds, per combination of `by`; no traffic is NaN, or nothing. */
export function bareQuantile(metric: HistogramDefinition, share: number, scope: QuantileScope = {}): string {
  const labels = ['le', ...(scope.by ?? [])].join(', ');
  return `histogram_quantile(${share}, sum by (${labels}) (${rateOf(`${metric.name}_bucket`, scope)}))`;
}

/** The same for a panel: no traffic drops out. */
export function quantile(metric: HistogramDefinition, share: number, scope: QuantileScope = {}): string {
  return `${bareQuantile(metric, share, scope)} >= 0`;
}
