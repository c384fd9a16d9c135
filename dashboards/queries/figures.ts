import { formatLe, type HistogramDefinition, METRICS, type RECORDING_RULES } from '../../contract/metrics.ts';

export type Figure = (typeof RECORDING_RULES)[number];

/** A quantile of a histogram, or the share of its samples above one of its edges. */
type Measure = { readonly quantile: number } | { readonly shareAboveSeconds: number };

export interface FigureDefinition {
  readonly metric: HistogramDefinition;
  readonly measure: Measure;
  /** Labels that the recorded series keeps, all of them labels of the metric. */
  readonly keep: readonly string[];
}

/**
 * Every figure, once; recording rules and stat panels are both made from it.
 *
 * Each recorded series keeps `model`, the one label that all source histograms share, so that figures can be laid beside each
 * other, and a further label only where an average over it would hide the answer: token budgets differ by tier, and the client's
 * wait differs by region. More labels would thin the samples under a quantile, and recorded quantiles cannot be averaged back;
 * whoever needs another cut computes it from the histogram.
 */
export const FIGURES: Record<Figure, FigureDefinition> = {
  ttft_p95: { metric: METRICS.ttft, measure: { quantile: 0.95 }, keep: ['model'] },
  tpot_p90: { metric: METRICS.tpot, measure: { quantile: 0.9 }, keep: ['model', 'tier'] },
  ttft_over_1s_ratio: { metric: METRICS.ttft, measure: { shareAboveSeconds: 1 }, keep: ['model'] },
  tpot_stddev: { metric: METRICS.tpotStddev, measure: { quantile: 0.95 }, keep: ['model'] },
  stream_gap_max: { metric: METRICS.streamGapMax, measure: { quantile: 0.99 }, keep: ['model'] },
  ttft_p999: { metric: METRICS.ttft, measure: { quantile: 0.999 }, keep: ['model'] },
  tpot_p999: { metric: METRICS.tpot, measure: { quantile: 0.999 }, keep: ['model', 'tier'] },
  ttft_over_2s_ratio: { metric: METRICS.ttft, measure: { shareAboveSeconds: 2 }, keep: ['model'] },
  ttft_client_p95: { metric: METRICS.ttftClient, measure: { quantile: 0.95 }, keep: ['model', 'region'] },
};

export interface FigureScope {
  /** Range of the rate: `1h` in rules, `$__range` in panels. */
  readonly window: string;
  /** Label matchers, without braces. */
  readonly matchers?: string;
  /** Labels that the result keeps. */
  readonly by?: readonly string[];
}

/** PromQL of a figure, in seconds or as a share from 0 to 1. Without traffic in the window it is NaN, or nothing. */
export function figureExpression(figure: Figure, scope: FigureScope): string {
  const { metric, measure } = FIGURES[figure];
  const by = scope.by ?? [];
  if ('quantile' in measure) {
    const buckets = rate(`${metric.name}_bucket`, scope.matchers ?? '', scope.window);
    return `histogram_quantile(${measure.quantile}, sum by (${['le', ...by].join(', ')}) (${buckets}))`;
  }
  return shareAbove(metric, measure.shareAboveSeconds, scope);
}

/** PromQL of the share of a histogram's samples above one of its edges, from 0 to 1. */
export function shareAbove(metric: HistogramDefinition, seconds: number, scope: FigureScope): string {
  const by = scope.by ?? [];
  const sum = by.length > 0 ? `sum by (${by.join(', ')}) ` : 'sum';
  const edge = [`le="${formatLe(seconds)}"`, scope.matchers].filter(Boolean).join(', ');
  const within = rate(`${metric.name}_bucket`, edge, scope.window);
  const all = rate(`${metric.name}_count`, scope.matchers ?? '', scope.window);
  // Sums in another order differ in the last digit; a share just below zero is zero.
  return `clamp_min(1 - ${sum}(${within}) / ${sum}(${all}), 0)`;
}

function rate(series: string, matchers: string, window: string): string {
  return `rate(${series}${matchers === '' ? '' : `{${matchers}}`}[${window}])`;
}
