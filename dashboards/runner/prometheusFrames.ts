import type { Frame } from './frame.ts';

/** One series of an answer of Prometheus' HTTP API. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

/** One frame per series, named by the legend. */
export function seriesFrames(refId: string, legend: string, series: readonly Series[]): Frame[] {
  return series.map(({ metric, value, values }) => {
    const samples = values ?? (value ? [value] : []);
    return {
      refId,
      fields: [
        { name: 'Time', type: 'time', values: samples.map(([seconds]) => new Date(seconds * 1000)) },
        {
          name: legendOf(legend, metric),
          type: 'number',
          labels: metric,
          values: samples.map(([, text]) => Number(text)),
        },
      ],
    };
  });
}

/** An instant answer as a table: a text field per label, and `Value`. */
export function labelTable(refId: string, series: readonly Series[]): Frame {
  if (series.length === 0) return { refId, fields: [] };
  const labels = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].sort();
  return {
    refId,
    fields: [
      { name: 'Time', type: 'time', values: series.map(({ value }) => new Date((value?.[0] ?? 0) * 1000)) },
      ...labels.map((label) => ({
        name: label,
        type: 'string' as const,
        values: series.map(({ metric }) => metric[label] ?? ''),
      })),
      { name: 'Value', type: 'number', values: series.map(({ value }) => Number(value?.[1])) },
    ],
  };
}

/**
 * The rows of a heatmap: buckets in the order of their bounds, each less the one below it. Like Grafana, it takes samples by their
 * position, which is right as long as all buckets of a histogram are scraped together.
 */
export function heatmapFrame(refId: string, series: readonly Series[]): Frame {
  if (series.length === 0) return { refId, fields: [] };
  const bound = ({ metric }: Series) => (metric['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(metric['le']));
  const sorted = series.toSorted((a, b) => bound(a) - bound(b));
  const counts = sorted.map(({ values = [] }) => values.map(([, text]) => Number(text)));
  return {
    refId,
    fields: [
      { name: 'Time', type: 'time', values: (sorted[0]?.values ?? []).map(([seconds]) => new Date(seconds * 1000)) },
      ...sorted.map(({ metric }, row) => ({
        name: metric['le'] ?? '',
        type: 'number' as const,
        labels: metric,
        values: (counts[row] ?? []).map((count, at) => count - (counts[row - 1]?.[at] ?? 0)),
      })),
    ],
  };
}

function legendOf(legend: string, metric: Series['metric']): string {
  if (legend !== '' && legend !== '__auto')
    return legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? '');
  return JSON.stringify(metric);
}
