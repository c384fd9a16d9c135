import type { MetricDefinition } from '../../contract/metrics.ts';
import { DIMENSIONS, type Dimension } from '../variables/dimensions.ts';

/**
 * Label matchers for the dashboard's variables, as far as the metric has such labels: a matcher on a label that a series lacks
 * would match nothing. Plain `$name`: Grafana escapes the values for a regular expression inside a PromQL string by itself,
 * which `${name:regex}` would do for the regular expression alone.
 */
export function variableMatchers(metric: MetricDefinition, dimensions: readonly Dimension[] = DIMENSIONS): string {
  return dimensions
    .filter((dimension) => metric.labels.includes(dimension))
    .map((dimension) => `${dimension}=~"$${dimension}"`)
    .join(', ');
}

/** Which of the variables narrow a panel of this metric, as a sentence of its description. */
export function filteredBy(metric: MetricDefinition, dimensions: readonly Dimension[] = DIMENSIONS): string {
  const names = dimensions.filter((dimension) => metric.labels.includes(dimension));
  if (names.length === 0) return 'Not filtered by the variables.';
  const last = names.at(-1);
  return `Filtered by ${names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last}` : last}.`;
}
