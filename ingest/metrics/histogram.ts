import { formatLe, type HistogramDefinition } from '../../contract/metrics.ts';
import { BucketExemplars } from './exemplars.ts';
import { type ExposedMetric, type ExpositionFormat, formatNumber } from './exposition.ts';
import { LabelSets } from './labelSets.ts';
import { isCountable } from './sampleValue.ts';

interface Series {
  /** Samples of each bucket alone, the last one being +Inf; they are added up when read. */
  readonly counts: Float64Array;
  readonly exemplars: BucketExemplars;
  sum: number;
  /** Whatever of a line does not change: a scrape only appends `le` and numbers. */
  readonly bucketHead: string;
  readonly sumHead: string;
  readonly countHead: string;
}

/**
 * A classic histogram, made by hand because a joined request observes about a dozen of them: prom-client's own takes several
 * times as long, and renders all its series in one piece.
 */
export class Histogram implements ExposedMetric {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #edges: Float64Array;
  readonly #leTails: readonly string[];
  readonly #series: LabelSets<Series>;

  constructor(definition: HistogramDefinition, maxLabelSets: number, onOverflow: () => void) {
    this.name = definition.name;
    this.help = definition.help;
    this.#edges = Float64Array.from(definition.buckets);
    this.#leTails = [...definition.buckets, Number.POSITIVE_INFINITY].map((edge) => `le="${formatLe(edge)}"} `);
    this.#series = new LabelSets({
      definition,
      maxLabelSets,
      onOverflow,
      create: (labels) => ({
        counts: new Float64Array(definition.buckets.length + 1),
        exemplars: new BucketExemplars(),
        sum: 0,
        bucketHead: `${definition.name}_bucket{${labels}${labels && ','}`,
        sumHead: `${definition.name}_sum${labels && `{${labels}}`} `,
        countHead: `${definition.name}_count${labels && `{${labels}}`} `,
      }),
    });
  }

  /**
   * Counts one sample. What is no duration (see {@link isCountable}) is ignored; a trace id that cannot be an exemplar is left
   * out, and the sample counts all the same.
   *
   * @param labels values in the definition's order
   */
  observe(labels: readonly string[], valueSeconds: number, traceId?: string): void {
    if (!isCountable(valueSeconds)) return;
    const series = this.#series.find(labels);
    const bucket = this.#bucketOf(valueSeconds);
    series.counts[bucket]! += 1;
    series.sum += valueSeconds;
    if (traceId !== undefined) series.exemplars.keep(bucket, traceId, valueSeconds);
  }

  /** The first bucket whose edge is not below the value: `le` includes its edge. */
  #bucketOf(valueSeconds: number): number {
    const edges = this.#edges;
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (valueSeconds <= edges[middle]!) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  *pieces(format: ExpositionFormat): Generator<string> {
    for (const series of this.#series.all) yield this.#lines(series, format === 'openmetrics');
  }

  #lines(series: Series, withExemplars: boolean): string {
    let lines = '';
    let count = 0;
    for (let bucket = 0; bucket < series.counts.length; bucket += 1) {
      count += series.counts[bucket]!;
      lines += `${series.bucketHead}${this.#leTails[bucket]}${count}`;
      if (withExemplars) lines += series.exemplars.print(bucket);
      lines += '\n';
    }
    return `${lines}${series.sumHead}${formatNumber(series.sum)}\n${series.countHead}${count}\n`;
  }
}
