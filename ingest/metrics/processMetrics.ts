import {
  collectDefaultMetrics,
  type Metric,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import { formatLe } from '../../contract/metrics.ts';
import { type ExposedMetric, escapeLabelValue, formatNumber } from './exposition.ts';

/** prom-client's metrics of the process and of Node: CPU, memory, handles, garbage collection, lag of the event loop. */
export function processMetrics(): ExposedMetric[] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
