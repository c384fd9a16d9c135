import { MAX_LABEL_SETS } from '../contract/limits.ts';
import { METRICS, type MetricDefinition } from '../contract/metrics.ts';
import { formatFor } from './metrics/accept.ts';
import type { ExpositionFormat } from './metrics/exposition.ts';
import { ExpositionRegistry } from './metrics/expositionRegistry.ts';
import { Histogram } from './metrics/histogram.ts';
import { processMetrics } from './metrics/processMetrics.ts';
import { Counter, Gauge } from './metrics/scalar.ts';

type MetricOf<D extends MetricDefinition> = D['type'] extends 'histogram'
  ? Histogram
  : D['type'] extends 'counter'
    ? Counter
    : Gauge;

/** Every metric of the catalogue under its key there: `metrics.ttft.observe(labels, seconds, traceId)`. */
type CatalogueMetrics = { readonly [K in keyof typeof METRICS]: MetricOf<(typeof METRICS)[K]> };

interface Exposition {
  /** What a scrape gets: the catalogue, then the process and Node itself. Lets other work run in between. */
  render(format: ExpositionFormat): Promise<string>;
  /** The Content-Type of what `render` gives. */
  contentType(format: ExpositionFormat): string;
  /** The format that a request's `Accept` header asks for. */
  formatFor(accept: string | undefined): ExpositionFormat;
}

export type Metrics = CatalogueMetrics & Exposition;

/** The `label` under which a whole label set beyond the metric's cap is counted; the caps of single labels name their label. */
const WHOLE_SET = '*';

/**
 * Makes the metrics of the catalogue, at zero, in registries of their own.
 *
 * @param options.maxLabelSets label sets of one metric before further samples share the set in which every label is `other`
 */
export function createMetrics({ maxLabelSets = MAX_LABEL_SETS }: { maxLabelSets?: number } = {}): Metrics {
  // The counter of overflows cannot count its own.
  const labelOverflow = new Counter(METRICS.labelOverflow, maxLabelSets, () => {});
  const create = (definition: MetricDefinition) => {
    const onOverflow = () => labelOverflow.inc([definition.name, WHOLE_SET]);
    if (definition.type === 'histogram') return new Histogram(definition, maxLabelSets, onOverflow);
    if (definition.type === 'counter') return new Counter(definition, maxLabelSets, onOverflow);
    return new Gauge(definition, maxLabelSets, onOverflow);
  };
  const catalogue = {
    ...Object.fromEntries(Object.entries(METRICS).map(([key, definition]) => [key, create(definition)])),
    labelOverflow,
  } as unknown as CatalogueMetrics;

  const exposed = [...Object.values(catalogue), ...processMetrics()];
  const registries: Record<ExpositionFormat, ExpositionRegistry> = {
    text: new ExpositionRegistry('text', exposed),
    openmetrics: new ExpositionRegistry('openmetrics', exposed),
  };
  return {
    ...catalogue,
    render: (format) => registries[format].metrics(),
    contentType: (format) => registries[format].contentType,
    formatFor,
  };
}
