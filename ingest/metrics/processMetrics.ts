import {
  collectDefaultMetrics,
  type Metric,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import { formatLe } from '../../contract/metrics.ts';
import { type ExposedMetric, escapeLabelValue, formatNumber } from './exposition.ts';

/** Gauges with the suffix of counters, to which promtool objects; the same counts come by type under names without it. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** prom-client's metrics of the process and of Node: CPU, memory, handles, garbage collection, lag of the event loop. */
export function processMetrics(): ExposedMetric[] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return registry.getMetricsAsArray().map(({ name, help, type }) => ({
    name,
    help,
    type: String(type),
    async *pieces() {
      // Typed as what the registry gives out, though each of them can be read.
      const metric = registry.getSingleMetric(name) as Metric;
      const { values } = (await metric.get()) as MetricObjectWithValues<MetricValueWithName<string>>;
      yield values.map((value) => sampleLine(name, value)).join('');
    },
  }));
}

/** prom-client prints `le="1"` and `Nan`; both formats want `1.0` and `NaN`. */
function sampleLine(name: string, { metricName, labels, value }: MetricValueWithName<string>): string {
  const pairs = Object.entries(labels).map(([label, text]) => {
    const printed = label === 'le' ? formatLe(Number(text === '+Inf' ? Number.POSITIVE_INFINITY : text)) : String(text);
    return `${label}="${escapeLabelValue(printed)}"`;
  });
  return `${metricName ?? name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${formatNumber(value)}\n`;
}
