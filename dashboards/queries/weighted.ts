/** What of a source is weighed: `keys` and `values` are columns of it, beside `weight`. */
export interface Weighing {
  readonly source: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** Aggregates of the source's lines, by their names. */
  readonly sums: Readonly<Record<string, string>>;
  /** Percentiles, by nearest rank of how many each line stands for, by their names. */
  readonly percentiles: Readonly<Record<string, readonly [value: string, share: number]>>;
}

/**
 * Common table expressions that end in `figures`: a line for each combination of keys, with its sums and percentiles.
 *
 * Values are sorted under one number for combination and value: by words it takes ten times as long.
 */
export function weightedFigures({ source, keys, values, sums, percentiles }: Weighing): string {
  const key = keys.join(', ');
  const kept = [key, ...Object.keys(sums)].join(', ');
  const shares = [...new Set(Object.values(percentiles).map(([, share]) => share))];
  const ofLine = shares.map((share, place) => `min(value) FILTER (WHERE upto >= ${share} * total) AS p${place}`);
  const columns = Object.entries(percentiles).map(
    ([name, [value, share]]) =>
      `max(p${shares.indexOf(share)}) FILTER (WHERE line % ${values.length} = ${values.indexOf(value)}) AS ${name}`,
  );
  const summed = Object.entries(sums).map(([name, sql]) => `${sql} AS ${name}`);
  return `combinations AS MATERIALIZED (
  SELECT (row_number() OVER ())::integer AS key, ${[key, ...summed].join(', ')}
  FROM ${source}
  GROUP BY ${key}
), valued AS (
  SELECT key * ${values.length} + unnest('{${values.map((_, place) => place)}}'::integer[]) AS line,
    unnest(ARRAY[${values.join(', ')}]::double precision[]) AS value, weight
  FROM ${source} JOIN combinations USING (${key})
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
), figures AS (
  SELECT ${kept}, ${columns.join(',\n    ')}
  FROM combinations LEFT JOIN lines ON key = line / ${values.length}
  GROUP BY ${kept}
)`;
}
