import { type Kysely, sql } from 'kysely';

/** What is summed over the dimensions that are left out: of client the model, of route model, route and tier, of stage the model. */
const SUMMED = [
  ['client', 'ttft_client'],
  ['route', 'ttft_client'],
  ['route', 'tpot'],
  ['route', 'first_screen'],
  ['stage', 'stage_duration'],
]
  .map((pair) => `('${pair.join("', '")}')`)
  .join(', ');

const KEY = 'hour, grain, metric, region, device, variant, stage';

/** Sums are made anew from the histograms of their hour: some twenty thousand counts, and no way to drift away from them. */
const MAKE = `
  CREATE FUNCTION make_rollup_sums(of_hours timestamptz[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM rollup_sums WHERE hour = ANY (of_hours);
    INSERT INTO rollup_sums (${KEY}, buckets, counts, upto)
    SELECT ${KEY}, array_agg(bucket ORDER BY bucket), array_agg(n ORDER BY bucket), array_agg(upto ORDER BY bucket)
    FROM (
      SELECT ${KEY}, bucket, n, (sum(n) OVER (PARTITION BY ${KEY} ORDER BY bucket))::integer AS upto
      FROM (
        SELECT ${KEY}, bucket, sum(n)::integer AS n
        FROM (
          SELECT h.hour, c.grain, c.metric, c.region, c.device, c.variant, c.stage, unnest(h.buckets) AS bucket, unnest(h.counts) AS n
          FROM rollup_cells c JOIN rollup_hours h ON h.cell = c.id
          WHERE h.hour = ANY (of_hours) AND (c.grain, c.metric) IN (${SUMMED})
        ) AS entries GROUP BY ${KEY}, bucket HAVING sum(n) > 0
      ) AS counted
    ) AS ranked GROUP BY ${KEY};
  END $$`;

const COMMENTS: readonly (readonly [string, string])[] = [
  [
    'TABLE rollup_sums',
    'Folded histograms by hour over all models, routes and tiers: what most panels ask for, in a tenth of the lines. Always the sum of rollup_hours; what is not folded is missing here too.',
  ],
  ['COLUMN rollup_sums.hour', 'Hour in UTC in which the requests started.'],
  [
    'COLUMN rollup_sums.grain',
    'As in rollup_cells: client is by region and device here, route by variant, stage by stage.',
  ],
  ['COLUMN rollup_sums.metric', 'The duration that is counted.'],
  ...['region', 'device', 'variant', 'stage'].map((name): [string, string] => [
    `COLUMN rollup_sums.${name}`,
    'Value of the dimension, unknown where the request has none; null where the grain is not by it.',
  ]),
  ['COLUMN rollup_sums.buckets', 'Buckets with requests in them, rising.'],
  ['COLUMN rollup_sums.counts', 'Requests per bucket, in the order of buckets.'],
  [
    'COLUMN rollup_sums.upto',
    'Requests up to and including the bucket, so that width_bucket finds a percentile without adding up.',
  ],
  [
    'FUNCTION make_rollup_sums(timestamp with time zone[])',
    'Makes the sums of these hours anew. The folding process calls it for the hours that it has changed.',
  ],
];

/** Histograms summed over the dimensions by which dashboards are seldom narrowed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE rollup_sums (
      hour timestamptz NOT NULL,
      grain text NOT NULL,
      metric text NOT NULL,
      region text,
      device text,
      variant text,
      stage text,
      buckets smallint[] NOT NULL,
      counts integer[] NOT NULL,
      upto integer[] NOT NULL,
      CONSTRAINT one_sum_each UNIQUE NULLS NOT DISTINCT (hour, grain, metric, region, device, variant, stage),
      CONSTRAINT arrays_alike CHECK (
        cardinality(buckets) > 0 AND cardinality(counts) = cardinality(buckets) AND cardinality(upto) = cardinality(buckets))
    )`.execute(db);
  await sql.raw(MAKE).execute(db);
  // Day by day, so that nothing has to be sorted that is larger than a day.
  await sql`
    SELECT make_rollup_sums(array_agg(hour))
    FROM (SELECT DISTINCT hour FROM rollup_hours) AS hours GROUP BY (hour AT TIME ZONE 'UTC')::date`.execute(db);
  for (const [object, text] of COMMENTS)
    await sql`${sql.raw(`COMMENT ON ${object} IS '${text.replaceAll("'", "''")}'`)}`.execute(db);
  await sql`
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana_reader') THEN
        GRANT SELECT ON rollup_sums TO grafana_reader;
      END IF;
    END $$`.execute(db);
}
