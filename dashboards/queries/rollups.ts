import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import {
  ROLLUP_GRAINS,
  type RollupDimension,
  type RollupGrainName,
  type RollupMetric,
} from '../../contract/rollups.ts';
import { reference } from '../variables/reference.ts';

export interface RollupScope {
  readonly grain: RollupGrainName;
  readonly metric: RollupMetric;
  /** SQL of the result's key columns, by their names. */
  readonly by: Readonly<Record<string, string>>;
  /** Dimensions of the grain that are variables of the dashboard. */
  readonly variables: readonly RollupDimension[];
  readonly more?: string;
}

/** Hours that touch the dashboard's time range: a rollup knows no minutes. */
const IN_HOURS = `hour BETWEEN date_trunc('hour', $__timeFrom()::timestamptz) AND $__timeTo()`;

/** Dimensions of closed lists, every value of which is offered. */
const CLOSED: readonly RollupDimension[] = ['device', 'stage', 'outcome', 'ttft_band'];

/** The variable's value that a cell belongs to. Rollups keep words as they were said; what is not accepted is `other` to the metrics. */
export function rollupLabelOf(dimension: RollupDimension): string {
  if (CLOSED.includes(dimension)) return dimension;
  const accepted = `${dimension} IN (SELECT value FROM label_values WHERE label = '${dimension}')`;
  return `CASE WHEN ${dimension} = '${UNKNOWN_LABEL}' OR ${accepted} THEN ${dimension} ELSE '${OTHER_LABEL}' END`;
}

/** Conditions of a WHERE on `rollups`. */
export function rollupConditions({ grain, metric, variables, more }: Omit<RollupScope, 'by'>): string {
  const dimensions: readonly string[] = ROLLUP_GRAINS[grain].dimensions;
  for (const variable of variables) {
    if (!dimensions.includes(variable)) throw new Error(`The rollups by ${grain} know no ${variable}`);
  }
  const conditions = [
    `grain = '${grain}'`,
    `metric = '${metric}'`,
    IN_HOURS,
    ...variables.map((each) => `(${rollupLabelOf(each)}) IN (${reference(`${each}:sqlstring`)})`),
    ...(more === undefined ? [] : [more]),
  ];
  return conditions.join('\n    AND ');
}

/**
 * Common table expressions that end in `ranked`: per key and bucket the value in milliseconds, how many samples are at most in this
 * bucket (`upto`), and how many there are (`total`). Every percentile of it is within 1 % of the exact one.
 */
export function rankedRollups(scope: RollupScope): string {
  const keys = Object.keys(scope.by);
  const columns = Object.entries(scope.by).map(([name, sql]) => `${sql} AS ${name}`);
  return `counted AS (
  SELECT ${columns.join(', ')}, value_ms, sum(n) AS n
  FROM rollups
  WHERE ${rollupConditions(scope)}
  GROUP BY ${[...keys.map((_, index) => index + 1), keys.length + 1].join(', ')}
), ranked AS (
  SELECT ${keys.join(', ')}, value_ms,
    sum(n) OVER (PARTITION BY ${keys.join(', ')} ORDER BY value_ms) AS upto,
    sum(n) OVER (PARTITION BY ${keys.join(', ')}) AS total
  FROM counted
  WHERE n > 0
)`;
}

/** A percentile of `ranked`, in a SELECT that groups by the keys; milliseconds. */
export function rankedPercentile(share: number): string {
  return `min(value_ms) FILTER (WHERE upto >= ceil(${share} * total))`;
}
