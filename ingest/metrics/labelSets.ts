import { type MetricDefinition, OTHER_LABEL } from '../../contract/metrics.ts';
import { labelPairs } from './exposition.ts';

/** One level for each label, keyed by its value; below the last label lie the series. */
type Branch<T> = Map<string, Branch<T> | T>;

export interface LabelSetsOptions<T> {
  readonly definition: MetricDefinition;
  /** Label sets that are kept; what comes beyond them shares the one in which every label is `other`. At least 1. */
  readonly maxLabelSets: number;
  /** Makes the series of a new label set from its printed labels, `model="llama",route="/"`. */
  readonly create: (labels: string) => T;
  /** Told of each sample that was folded into `other`. */
  readonly onOverflow: () => void;
}

/**
 * The series of one metric by their label values.
 *
 * A tree of maps and no joined key: values from outside may hold any joiner, and joining costs about ten times the look-ups,
 * since a new string must be hashed whole while those of the values are mostly known.
 */
export class LabelSets<T extends object> {
  /** In the order in which they were first seen. */
  readonly all: T[] = [];
  readonly #options: LabelSetsOptions<T>;
  readonly #others: readonly string[];
  readonly #root: Branch<T> | T;

  constructor(options: LabelSetsOptions<T>) {
    const { definition, maxLabelSets } = options;
    if (!Number.isInteger(maxLabelSets) || maxLabelSets < 1) {
      throw new RangeError(`${definition.name}: maxLabelSets is a whole number from 1, not ${maxLabelSets}`);
    }
    this.#options = options;
    this.#others = definition.labels.map(() => OTHER_LABEL);
    // Without labels there is one series from the start, at zero: rate() needs a sample before the first event.
    this.#root = definition.labels.length === 0 ? this.#create([]) : new Map();
  }

  /**
   * The series of these values (in the definition's order), made if it is new and within the cap, else that of `other`.
   *
   * @throws RangeError when there are more or fewer values than labels
   */
  find(values: readonly string[]): T {
    if (values.length !== this.#others.length) {
      const { name, labels } = this.#options.definition;
      throw new RangeError(`${name} has the labels [${labels.join(', ')}], and not ${values.length}`);
    }
    let node: Branch<T> | T | undefined = this.#root;
    for (const value of values) {
      node = (node as Branch<T>).get(value);
      if (node === undefined) return this.#admit(values);
    }
    return node as T;
  }

  #admit(values: readonly string[]): T {
    // A lone surrogate is written as U+FFFD: two values that print alike must not become one series printed twice.
    if (!values.every((value) => value.isWellFormed())) return this.find(values.map((value) => value.toWellFormed()));
    // One place is kept for `other`, so that the cap holds with it.
    const isFull = this.all.length >= this.#options.maxLabelSets - 1;
    if (isFull && values.some((value) => value !== OTHER_LABEL)) {
      this.#options.onOverflow();
      return this.find(this.#others);
    }
    const series = this.#create(values);
    let branch = this.#root as Branch<T>;
    for (const value of values.slice(0, -1)) {
      const next = (branch.get(value) as Branch<T> | undefined) ?? new Map();
      branch.set(value, next);
      branch = next;
    }
    branch.set(values.at(-1)!, series);
    return series;
  }

  #create(values: readonly string[]): T {
    const series = this.#options.create(labelPairs(this.#options.definition.labels, values));
    this.all.push(series);
    return series;
  }
}
