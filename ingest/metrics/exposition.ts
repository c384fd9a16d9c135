import type { MetricDefinition } from '../../contract/metrics.ts';

/** `text` is Prometheus' text format 0.0.4, which has no exemplars; `openmetrics` is OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** A metric that writes itself. */
export interface ExposedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /**
   * The sample lines, each with its line end, in pieces between which other work may run. What has to agree (the buckets, sum and
   * count of one label set) stands in one piece.
   */
  pieces(format: ExpositionFormat): Iterable<string> | AsyncIterable<string>;
}

/** The lines before a metric's samples. OpenMetrics names a counter's family without `_total`, and knows units. */
export function familyHeader(metric: Omit<ExposedMetric, 'pieces'>, format: ExpositionFormat): string {
  const help = metric.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  if (format === 'text') return `# HELP ${metric.name} ${help}\n# TYPE ${metric.name} ${metric.type}\n`;

  const family = metric.type === 'counter' ? metric.name.replace(/_total$/, '') : metric.name;
  const unit = /_(seconds|bytes)$/.exec(family)?.[1];
  return (
    `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${metric.type}\n` +
    (unit ? `# UNIT ${family} ${unit}\n` : '')
  );
}

/** `model="llama",route="/api/chat"`, or nothing where there are no labels. */
export function labelPairs(names: MetricDefinition['labels'], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabelValue(values[index] ?? '')}"`).join(',');
}

/** Label values come from outside: one bare quote or line feed would make the whole scrape unreadable. */
export function escapeLabelValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

export function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
