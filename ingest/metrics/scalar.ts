import type { CounterDefinition, GaugeDefinition } from '../../contract/metrics.ts';
import { type ExposedMetric, type ExpositionFormat, formatNumber } from './exposition.ts';
import { LabelSets } from './labelSets.ts';
import { isCountable } from './sampleValue.ts';

interface Series {
  value: number;
  /** The line up to its number. */
  readonly head: string;
}

function scalarSeries(
  definition: CounterDefinition | GaugeDefinition,
  maxLabelSets: number,
  onOverflow: () => void,
): LabelSets<Series> {
  return new LabelSets({
    definition,
    maxLabelSets,
    onOverflow,
    create: (labels) => ({ value: 0, head: `${definition.name}${labels && `{${labels}}`} ` }),
  });
}

function* scalarLines(series: LabelSets<Series>): Generator<string> {
  for (const { head, value } of series.all) yield `${head}${formatNumber(value)}\n`;
}

/** Only grows. */
export class Counter implements ExposedMetric {
  readonly name: string;
  readonly help: string;
  readonly type = 'counter';
  readonly #series: LabelSets<Series>;

  constructor(definition: CounterDefinition, maxLabelSets: number, onOverflow: () => void) {
    this.name = definition.name;
    this.help = definition.help;
    this.#series = scalarSeries(definition, maxLabelSets, onOverflow);
  }

  /**
   * Adds to the counter; what cannot be added (see {@link isCountable}) is ignored. Adding 0 makes the series appear, so that
   * rate() sees its first increase.
   *
   * @param labels values in the definition's order
   */
  inc(labels: readonly string[], by = 1): void {
    if (isCountable(by)) this.#series.find(labels).value += by;
  }

  pieces(_format: ExpositionFormat): Generator<string> {
    return scalarLines(this.#series);
  }
}

/** Rises and falls; has any number as its value. */
export class Gauge implements ExposedMetric {
  readonly name: string;
  readonly help: string;
  readonly type = 'gauge';
  readonly #series: LabelSets<Series>;

  constructor(definition: GaugeDefinition, maxLabelSets: number, onOverflow: () => void) {
    this.name = definition.name;
    this.help = definition.help;
    this.#series = scalarSeries(definition, maxLabelSets, onOverflow);
  }

  /** @param labels values in the definition's order */
  set(labels: readonly string[], value: number): void {
    this.#series.find(labels).value = value;
  }

  pieces(_format: ExpositionFormat): Generator<string> {
    return scalarLines(this.#series);
  }
}
