import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import {
  LAST_BUCKET,
  ROLLUP_DIMENSIONS,
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
export function rollupConditions(scope: Omit<RollupScope, 'by'>): string {
  return [IN_HOURS, ...cellConditions(scope)].join('\n    AND ');
}

/** Those of them that a cell decides, whatever the hour. */
function cellConditions({ grain, metric, variables, more }: Omit<RollupScope, 'by'>): string[] {
  const dimensions: readonly string[] = ROLLUP_GRAINS[grain].dimensions;
  for (const variable of variables) {
    if (!dimensions.includes(variable)) throw new Error(`The rollups by ${grain} know no ${variable}`);
  }
  return [
    `grain = '${grain}'`,
    `metric = '${metric}'`,
    ...variables.map((each) => `(${rollupLabelOf(each)}) IN (${reference(`${each}:sqlstring`)})`),
    ...(more === undefined ? [] : [more]),
  ];
}

/** More than there are buckets, so that key and bucket fit into one number. */
const BUCKETS_PER_KEY = 2 ** Math.ceil(Math.log2(LAST_BUCKET + 1));

/**
 * Common table expressions that end in `ranked`: per key and bucket the value in milliseconds, how many samples are at most in this
 * bucket (`upto`), and how many there are (`total`); `counted` before it has how many are in it (`n`). Every percentile of it is within 1 %
 * of the exact one.
 *
 * It reads the tables behind the view `rollups`: cells are chosen and named before their histograms are opened, and what is opened is added
 * up under one number for key and bucket. The view names each count with all its words, which takes five times as long.
 */
export function rankedRollups(scope: RollupScope): string {
  const keys = Object.keys(scope.by).join(', ');
  const columns = Object.entries(scope.by).map(([name, sql]) => `${sql} AS ${name}`);
  const dimensions = ROLLUP_DIMENSIONS.join(', ');
  return `matching AS MATERIALIZED (
  SELECT id, ${dimensions} FROM rollup_cells
  WHERE ${cellConditions(scope).join('\n    AND ')}
), found AS (
  SELECT ${dimensions}, hour, buckets, counts FROM matching JOIN rollup_hours ON cell = id
  WHERE ${IN_HOURS}
  UNION ALL
  SELECT ${dimensions}, hour, array_agg(bucket), array_agg(n)
  FROM matching JOIN (
    SELECT hour, unnest(cells) AS cell, unnest(buckets) AS bucket, unnest(counts)::integer AS n
    FROM rollup_deltas
    WHERE ${IN_HOURS}
  ) AS not_folded ON cell = id
  GROUP BY id, ${dimensions}, hour
), keyed AS MATERIALIZED (
  SELECT dense_rank() OVER (ORDER BY ${keys}) AS key, ${keys}, buckets, counts
  FROM (SELECT ${columns.join(', ')}, buckets, counts FROM found) AS named
), placed AS (
  SELECT place / ${BUCKETS_PER_KEY} AS key, (place % ${BUCKETS_PER_KEY})::smallint AS bucket, sum(n)::double precision AS n
  FROM (SELECT key * ${BUCKETS_PER_KEY} + unnest(buckets) AS place, unnest(counts) AS n FROM keyed) AS entries
  GROUP BY place
  HAVING sum(n) > 0
), counted AS (
  SELECT key, ${keys}, value_ms, n
  FROM placed JOIN (SELECT DISTINCT key, ${keys} FROM keyed) AS names USING (key) JOIN rollup_buckets USING (bucket)
), ranked AS (
  SELECT ${keys}, value_ms,
    sum(n) OVER (PARTITION BY key ORDER BY value_ms) AS upto,
    sum(n) OVER (PARTITION BY key) AS total
  FROM counted
)`;
}

/** A percentile of `ranked`, in a SELECT that groups by the keys; milliseconds. */
export function rankedPercentile(share: number): string {
  return `min(value_ms) FILTER (WHERE upto >= ceil(${share} * total))`;
}
