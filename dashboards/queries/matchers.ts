import type { MetricDefinition } from '../../contract/metrics.ts';
import { DIMENSIONS } from '../variables/dimensions.ts';

/**
 * Label matchers for the dashboard's variables, as far as the metric has such labels: a matcher on a label that a series lacks
 * would match nothing. Plain `$name`: Grafana escapes the values for a regular expression inside a PromQL string by itself,
 * which `${name:regex}` would do for the regular expression alone.
 */
export function variableMatchers(metric: MetricDefinition): string {
  return DIMENSIONS.filter((dimension) => metric.labels.includes(dimension))
    .map((dimension) => `${dimension}=~"$${dimension}"`)
    .join(', ');
}
