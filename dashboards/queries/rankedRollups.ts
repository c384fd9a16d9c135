import { LAST_BUCKET, ROLLUP_SUMS, type RollupDimension } from '../../contract/rollups.ts';
import { DIMENSIONS } from '../variables/dimensions.ts';
import { everyOptionChosen } from './requestsFilter.ts';
import { cellConditions, IN_HOURS, isItsOnlyWord, type RollupScope } from './rollups.ts';

export interface RankedScope extends RollupScope {
  readonly grain: keyof typeof ROLLUP_SUMS;
  /** SQL of the result's key columns, by their names: of the hour, the metric, and dimensions of the sums. */
  readonly by: Readonly<Record<string, string>>;
}

/** More than there are buckets, so that key and bucket fit into one number. */
const BUCKETS_PER_KEY = 2 ** Math.ceil(Math.log2(LAST_BUCKET + 1));

/** Hours of which something is not folded yet: few, and their sums lack it. */
const UNFOLDED = 'ANY (ARRAY(SELECT hour FROM unfolded))';

/**
 * Common table expressions that end in `ranked`: per key and bucket the value in milliseconds, how many samples are at most in this
 * bucket (`upto`), and how many there are (`total`); `counted` before it has how many are in it (`n`). Every percentile of it is within 1 %
 * of the exact one.
 *
 * It reads the tables behind the view `rollups`, which names each count with all its words: that takes five times as long. Where nothing
 * narrows what the sums leave out, it reads these; else the cells, which are chosen and named before their histograms are opened. What is
 * opened is added up under one number for key and bucket.
 */
export function rankedRollups(scope: RankedScope): string {
  return ranked(scope, 'true');
}

/**
 * The same percentiles for keys that each hour has for itself, ending in `hours`: the hour's sum has them at hand wherever a dimension's
 * label is that of one word.
 *
 * @param scope `by` tells hours and all dimensions of the sums apart
 */
export function rollupsByHour(scope: RankedScope, shares: Readonly<Record<string, number>>): string {
  const keys = Object.keys(scope.by).join(', ');
  const ready = ROLLUP_SUMS[scope.grain].dimensions.map(isItsOnlyWord).join(' AND ');
  const inSum = (share: number) =>
    `(SELECT of_bucket FROM durations)[1 + buckets[1 + width_bucket(ceil(${share} * upto[cardinality(upto)])::integer - 1, upto)]]`;
  return `${ranked(scope, `NOT (${ready})`)}, durations AS MATERIALIZED (
  SELECT array_agg(value_ms ORDER BY bucket) AS of_bucket FROM rollup_buckets
), hours AS (
  SELECT ${columnsOf(scope)}, ${named(shares, inSum)}
  FROM rollup_sums
  WHERE ${sumConditions(scope, ready)}
  UNION ALL
  SELECT ${keys}, ${named(shares, rankedPercentile)}
  FROM ranked
  GROUP BY ${keys}
)`;
}

/** A percentile of `ranked`, in a SELECT that groups by the keys; milliseconds. */
export function rankedPercentile(share: number): string {
  return `min(value_ms) FILTER (WHERE upto >= ceil(${share} * total))`;
}

function named(shares: Readonly<Record<string, number>>, sql: (share: number) => string): string {
  return Object.entries(shares)
    .map(([name, share]) => `${sql(share)} AS ${name}`)
    .join(', ');
}

function columnsOf({ by }: RankedScope): string {
  return Object.entries(by)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(', ');
}

/** Conditions of a WHERE on `rollup_sums`, after `asked` and `unfolded`. */
function sumConditions(scope: RankedScope, which: string): string {
  const kept: readonly RollupDimension[] = ROLLUP_SUMS[scope.grain].dimensions;
  const variables = scope.variables.filter((each) => kept.includes(each));
  return [
    '(SELECT for_sums FROM asked)',
    ...cellConditions({ ...scope, variables }),
    IN_HOURS,
    `NOT hour = ${UNFOLDED}`,
    which,
  ].join('\n    AND ');
}

/** @param which of the sums: the rest of them is answered elsewhere */
function ranked(scope: RankedScope, which: string): string {
  const kept: readonly RollupDimension[] = ROLLUP_SUMS[scope.grain].dimensions;
  const summed = DIMENSIONS.filter((each) => scope.variables.includes(each) && !kept.includes(each));
  const keys = Object.keys(scope.by).join(', ');
  const names = `metric, ${kept.join(', ')}`;
  return `asked AS MATERIALIZED (
  SELECT ${summed.length === 0 ? 'true' : everyOptionChosen(...summed)} AS for_sums
), unfolded AS MATERIALIZED (
  SELECT DISTINCT hour FROM rollup_deltas WHERE ${IN_HOURS}
), matching AS MATERIALIZED (
  SELECT id, ${names} FROM rollup_cells
  WHERE ${cellConditions(scope).join('\n    AND ')}
), found AS (
  SELECT ${names}, hour, buckets, counts FROM rollup_sums
  WHERE ${sumConditions(scope, which)}
  UNION ALL
  SELECT ${names}, hour, buckets, counts FROM matching JOIN rollup_hours ON cell = id
  WHERE NOT (SELECT for_sums FROM asked) AND ${IN_HOURS}
  UNION ALL
  SELECT ${names}, hour, buckets, counts FROM matching JOIN rollup_hours ON cell = id
  WHERE (SELECT for_sums FROM asked) AND hour = ${UNFOLDED}
  UNION ALL
  SELECT ${names}, hour, array_agg(bucket), array_agg(n)
  FROM matching JOIN (
    SELECT hour, unnest(cells) AS cell, unnest(buckets) AS bucket, unnest(counts)::integer AS n
    FROM rollup_deltas
    WHERE ${IN_HOURS}
  ) AS not_folded ON cell = id
  GROUP BY id, ${names}, hour
), keyed AS MATERIALIZED (
  SELECT dense_rank() OVER (ORDER BY ${keys}) AS key, ${keys}, buckets, counts
  FROM (SELECT ${columnsOf(scope)}, buckets, counts FROM found) AS named
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
