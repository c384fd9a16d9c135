/** What of a source is weighed: `keys` and `values` are columns of it, beside `weight`. */
export interface Weighing {
  readonly source: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

/**
 * Common table expressions that end in `percentiles`: per combination of keys the percentiles, by nearest rank, of how many each line
 * stands for, as columns by their names.
 *
 * Lines are sorted under one number for keys and value: by words it takes ten times as long.
 */
export function weightedPercentiles(
  { source, keys, values }: Weighing,
  wanted: Readonly<Record<string, readonly [value: string, share: number]>>,
): string {
  const key = keys.join(', ');
  const shares = [...new Set(Object.values(wanted).map(([, share]) => share))];
  const ofLine = shares.map((share, place) => `min(value) FILTER (WHERE upto >= ${share} * total) AS p${place}`);
  const columns = Object.entries(wanted).map(
    ([name, [value, share]]) =>
      `max(p${shares.indexOf(share)}) FILTER (WHERE line % ${values.length} = ${values.indexOf(value)}) AS ${name}`,
  );
  return `key_numbers AS MATERIALIZED (
  SELECT (row_number() OVER ())::integer AS key, ${key} FROM (SELECT DISTINCT ${key} FROM ${source}) AS combinations
), valued AS (
  SELECT key * ${values.length} + unnest('{${values.map((_, place) => place)}}'::integer[]) AS line,
    unnest(ARRAY[${values.join(', ')}]::double precision[]) AS value, weight
  FROM ${source} JOIN key_numbers USING (${key})
), weighted AS (
  SELECT line, value,
    sum(weight) OVER (PARTITION BY line ORDER BY value) AS upto,
    sum(weight) OVER (PARTITION BY line) AS total
  FROM valued
  WHERE value IS NOT NULL
), lines AS (
  SELECT line, ${ofLine.join(', ')}
  FROM weighted
  GROUP BY line
), percentiles AS (
  SELECT ${key}, ${columns.join(',\n    ')}
  FROM lines JOIN key_numbers ON key = line / ${values.length}
  GROUP BY ${key}
)`;
}
