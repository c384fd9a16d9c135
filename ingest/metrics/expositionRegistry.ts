import { setImmediate } from 'node:timers/promises';
import { type Metric, Registry, type RegistryContentType } from 'prom-client';
import { type ExposedMetric, type ExpositionFormat, familyHeader } from './exposition.ts';

/** Some 700 lines: well under a millisecond of work before other requests get their turn. */
const CHUNK_CHARACTERS = 65_536;

/**
 * A prom-client registry that writes one format, in chunks that let the event loop turn in between; prom-client's own `metrics()`
 * blocks for a tenth of a second at 50,000 series, and renames counters when it writes OpenMetrics. The same metrics can
 * therefore stand in two of these.
 */
export class ExpositionRegistry extends Registry<RegistryContentType> {
  readonly #format: ExpositionFormat;

  constructor(format: ExpositionFormat, metrics: readonly ExposedMetric[]) {
    super();
    this.#format = format;
    this.setContentType(format === 'text' ? Registry.PROMETHEUS_CONTENT_TYPE : Registry.OPENMETRICS_CONTENT_TYPE);
    // The registry asks no more of a metric than a name that is not taken.
    for (const metric of metrics) this.registerMetric(metric as unknown as Metric);
  }

  override async metrics(): Promise<string> {
    const chunks: string[] = [];
    let pieces: string[] = [];
    let characters = 0;
    for (const metric of this.getMetricsAsArray() as unknown as ExposedMetric[]) {
      pieces.push(familyHeader(metric, this.#format));
      for await (const piece of metric.pieces(this.#format)) {
        pieces.push(piece);
        characters += piece.length;
        if (characters < CHUNK_CHARACTERS) continue;
        // Joined here and not with `+=`, whose copying would all be done at the end, in one go.
        chunks.push(pieces.join(''));
        pieces = [];
        characters = 0;
        await setImmediate();
      }
    }
    chunks.push(pieces.join(''));
    if (this.#format === 'openmetrics') chunks.push('# EOF\n');
    return chunks.join('');
  }
}
