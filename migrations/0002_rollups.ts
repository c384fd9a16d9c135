import { type Kysely, sql } from 'kysely';

/**
 * Rollups: mergeable histograms by hour and by day (contract/rollups.ts says what is kept, and why in such buckets).
 *
 * The way of a count: a flush appends to `rollup_deltas` in its own transaction, one line per hour that it touches; a folding
 * process moves what has gathered into `rollup_hours`, and closes days that hardly change any more into `rollup_days`; the views
 * put together what lies where. Arrays hold a histogram in one line, and its counts without the cost of a row each.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE rollup_buckets (
      bucket smallint PRIMARY KEY,
      from_ms double precision NOT NULL,
      to_ms double precision NOT NULL,
      value_ms double precision NOT NULL,
      CONSTRAINT edges_rise CHECK (from_ms < to_ms AND value_ms >= from_ms AND value_ms < to_ms)
    )`.execute(db);
  const edges = edgesMs();
  const last = edges.length;
  await sql`
    INSERT INTO rollup_buckets (bucket, from_ms, to_ms, value_ms)
    SELECT bucket, from_ms, coalesce(lead(from_ms) OVER (ORDER BY bucket), 'Infinity'),
      CASE bucket WHEN 0 THEN 0 ELSE from_ms * (2 * ${GAMMA}::double precision) / (1 + ${GAMMA}::double precision) END
    FROM unnest(${[0, ...edges]}::double precision[]) WITH ORDINALITY AS e(from_ms, n) CROSS JOIN LATERAL (SELECT (n - 1)::smallint)
      AS b(bucket)`.execute(db);

  await sql`
    CREATE TABLE rollup_cells (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      grain text NOT NULL,
      metric text NOT NULL,
      model text,
      region text,
      device text,
      route text,
      variant text,
      tier text,
      stage text,
      outcome text,
      ttft_band text,
      overflow boolean NOT NULL DEFAULT false,
      CONSTRAINT one_cell_each UNIQUE NULLS NOT DISTINCT
        (grain, metric, model, region, device, route, variant, tier, stage, outcome, ttft_band, overflow),
      CONSTRAINT dimensions_of_grain CHECK (CASE grain
        WHEN 'client' THEN num_nulls(model, region, device) = 0
          AND num_nonnulls(route, variant, tier, stage, outcome, ttft_band) = 0
        WHEN 'route' THEN num_nulls(model, route, variant, tier) = 0
          AND num_nonnulls(region, device, stage, outcome, ttft_band) = 0
        WHEN 'stage' THEN num_nulls(stage, model) = 0
          AND num_nonnulls(region, device, route, variant, tier, outcome, ttft_band) = 0
        WHEN 'outcome' THEN num_nulls(variant, outcome, ttft_band) = 0
          AND num_nonnulls(model, region, device, route, tier, stage) = 0
        ELSE false END),
      CONSTRAINT texts_not_long CHECK (greatest(length(metric), length(model), length(region), length(device), length(route),
        length(variant), length(tier), length(stage), length(outcome), length(ttft_band)) <= 128)
    )`.execute(db);

  // Lines live for seconds, so vacuum comes by their number and not by the table's size.
  await sql`
    CREATE TABLE rollup_deltas (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      hour timestamptz NOT NULL,
      cells integer[] NOT NULL,
      buckets smallint[] NOT NULL,
      counts smallint[] NOT NULL,
      CONSTRAINT whole_hour CHECK (extract(epoch FROM hour) % 3600 = 0),
      CONSTRAINT arrays_alike CHECK (
        cardinality(cells) > 0 AND cardinality(buckets) = cardinality(cells) AND cardinality(counts) = cardinality(cells))
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, toast.autovacuum_vacuum_scale_factor = 0,
      toast.autovacuum_vacuum_threshold = 5000)`.execute(db);

  // They are read once and then gone: compressing them costs more than writing them as they are.
  await sql`
    ALTER TABLE rollup_deltas ALTER cells SET STORAGE EXTERNAL, ALTER buckets SET STORAGE EXTERNAL,
      ALTER counts SET STORAGE EXTERNAL`.execute(db);

  // The current hour is rewritten with every fold: room on the pages keeps that out of the index.
  const histogram = sql`
    CONSTRAINT arrays_alike CHECK (cardinality(buckets) > 0 AND cardinality(counts) = cardinality(buckets)),
    CONSTRAINT buckets_known CHECK (0 <= ALL (buckets) AND ${sql.lit(last)} >= ALL (buckets)),
    CONSTRAINT nothing_counts_zero CHECK (0 <> ALL (counts))`;
  await sql`
    CREATE TABLE rollup_hours (
      hour timestamptz NOT NULL,
      cell integer NOT NULL,
      buckets smallint[] NOT NULL,
      counts integer[] NOT NULL,
      PRIMARY KEY (cell, hour),
      CONSTRAINT whole_hour CHECK (extract(epoch FROM hour) % 3600 = 0),
      ${histogram}
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`
    CREATE TABLE rollup_days (
      day date NOT NULL,
      cell integer NOT NULL,
      buckets smallint[] NOT NULL,
      counts bigint[] NOT NULL,
      PRIMARY KEY (cell, day),
      ${histogram}
    )`.execute(db);
  await sql`
    CREATE TABLE rollup_progress (
      only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT one_row CHECK (only_row),
      closed_through date NOT NULL
    )`.execute(db);
  await sql`INSERT INTO rollup_progress (closed_through) VALUES ('-infinity')`.execute(db);

  await sql
    .raw(`CREATE VIEW rollups AS ${folded('rollup_hours', 'f.hour AS hour')} UNION ALL ${unfolded('hour')}`)
    .execute(db);
  await sql
    .raw(`
    CREATE VIEW rollups_daily AS ${folded('rollup_days', 'f.day AS day')}
    UNION ALL ${folded(
      'rollup_hours',
      `(f.hour AT TIME ZONE 'UTC')::date AS day`,
      `WHERE f.hour >= (SELECT (closed_through + 1)::timestamp AT TIME ZONE 'UTC' FROM rollup_progress)`,
    )}
    UNION ALL ${unfolded(`(hour AT TIME ZONE 'UTC')::date AS day`)}`)
    .execute(db);

  await sql.raw(PERCENTILES).execute(db);
  await sql.raw(RECOUNT).execute(db);
  await countWhatIsThere(db);

  for (const [object, text] of COMMENTS)
    await sql`${sql.raw(`COMMENT ON ${object} IS '${text.replaceAll("'", "''")}'`)}`.execute(db);
  await sql`
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana_reader') THEN
        GRANT SELECT ON rollup_buckets, rollup_cells, rollup_deltas, rollup_hours, rollup_days, rollup_progress, rollups,
          rollups_daily,
          rollups_recounted
          TO grafana_reader;
      END IF;
    END $$`.execute(db);
}

const GAMMA = 1.02;

/** Lower edges of the buckets from 1 on. A migration stays as it is, so it asks nobody; a test holds it against the contract. */
function edgesMs(): number[] {
  const edges: number[] = [];
  for (let edge = 0.001; edge < 86_400_000; edge *= GAMMA) edges.push(edge);
  return edges;
}

const DIMENSION_NAMES = ['model', 'region', 'device', 'route', 'variant', 'tier', 'stage', 'outcome', 'ttft_band'];
/** A stage is named by what is counted; the others by the row. */
const FROM_ROWS = DIMENSION_NAMES.filter((name) => name !== 'stage').join(', ');
const STAGES = 'gateway receive preprocess kv_load queue first_token serialize send network render unattributed'.split(
  ' ',
);
const SERIES = [
  ...['ttft_client', 'tpot', 'gap_max', 'first_screen', 'render_lag', 'hidden_tax'].map(
    (metric) => `('client', '${metric}', NULL)`,
  ),
  ...['ttft_server', 'ttft_client', 'tpot', 'first_screen'].map((metric) => `('route', '${metric}', NULL)`),
  ...STAGES.map((stage) => `('stage', 'stage_duration', '${stage}')`),
  `('outcome', 'requests', NULL)`,
].join(', ');
const dimensionsOf = (alias: string): string => DIMENSION_NAMES.map((name) => `${alias}.${name}`).join(', ');

/**
 * Lines of the views. Cells are joined before their arrays are opened, and nothing is summed, so that conditions on cells and times
 * reach the indexes. Arrays are opened in select lists, which takes a third of what it takes in FROM. The bucket's value costs
 * only those who ask for it.
 */
function folded(table: string, time: string, where = ''): string {
  return `
    SELECT l.grain, l.metric, l.${nameOf(time)}, ${dimensionsOf('l')}, l.bucket, b.value_ms, l.n::bigint AS n
    FROM (
      SELECT c.grain, c.metric, ${time}, ${dimensionsOf('c')}, unnest(f.buckets) AS bucket, unnest(f.counts) AS n
      FROM rollup_cells c JOIN ${table} f ON f.cell = c.id ${where}
    ) AS l LEFT JOIN rollup_buckets b USING (bucket)`;
}

function unfolded(time: string): string {
  return `
    SELECT c.grain, c.metric, l.${nameOf(time)}, ${dimensionsOf('c')}, l.bucket, b.value_ms, l.n::bigint AS n
    FROM (
      SELECT ${time}, unnest(cells) AS cell, unnest(buckets) AS bucket, unnest(counts) AS n FROM rollup_deltas
    ) AS l JOIN rollup_cells c ON c.id = l.cell LEFT JOIN rollup_buckets b USING (bucket)`;
}

function nameOf(expression: string): string {
  return expression.split(' AS ').at(-1)!;
}

/**
 * Counts into an array from the lowest to the highest bucket, makes running sums of it, and looks each rank up. Summing, ordering and
 * windows as SQL take several times as long, and one call per group for all its percentiles saves the most.
 */
const PERCENTILES = `
  CREATE FUNCTION rollup_percentiles(fractions double precision[], buckets smallint[], counts bigint[])
  RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  DECLARE
    lowest integer;
    upto double precision[];
    place integer;
    bucket integer;
    total double precision := 0;
    fraction double precision;
    values_ms double precision[] := '{}';
  BEGIN
    IF coalesce(cardinality(buckets), 0) = 0 THEN RETURN NULL; END IF;
    SELECT min(b), array_fill(0::double precision, ARRAY[max(b) - min(b) + 1]) INTO lowest, upto FROM unnest(buckets) AS u(b);
    FOR i IN 1 .. cardinality(buckets) LOOP
      place := buckets[i] - lowest + 1;
      upto[place] := upto[place] + counts[i];
    END LOOP;
    FOR i IN 1 .. cardinality(upto) LOOP
      total := total + upto[i];
      upto[i] := total;
    END LOOP;
    IF total <= 0 THEN RETURN NULL; END IF;
    FOREACH fraction IN ARRAY fractions LOOP
      bucket := lowest + width_bucket(greatest(1, ceil(fraction * total)) - 0.5, upto);
      values_ms := values_ms || CASE bucket WHEN 0 THEN 0
        ELSE 0.001 * power(${GAMMA}::double precision, bucket - 1) * (2 * ${GAMMA}) / (1 + ${GAMMA}) END::double precision;
    END LOOP;
    RETURN values_ms;
  END $$;
  CREATE FUNCTION rollup_percentile(fraction double precision, buckets smallint[], counts bigint[])
  RETURNS double precision LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  BEGIN
    RETURN (rollup_percentiles(ARRAY[fraction], buckets, counts))[1];
  END $$`;

/** The rules of ingest/pipeline/rollupSamples.ts once more, as SQL on rows. Flags: 1 coalesced, 2 suspended, 32 clock_anomaly. */
const RECOUNT = `
  CREATE VIEW rollups_recounted AS
  WITH edges AS (
    SELECT array_agg(from_ms ORDER BY bucket) FILTER (WHERE bucket > 0) AS edges_ms FROM rollup_buckets
  ), facts AS (
    SELECT day AS received_on, date_trunc('hour', started_at, 'UTC') AS hour,
      coalesce(model, 'unknown') AS model, coalesce(region, 'unknown') AS region,
      coalesce(device::text, 'unknown') AS device, coalesce(route, 'unknown') AS route,
      coalesce(variant, 'unknown') AS variant, coalesce(tier, 'unknown') AS tier,
      coalesce(status::text, 'unknown') AS outcome,
      CASE WHEN ttft_ms IS NULL THEN 'unknown' WHEN ttft_ms <= 100 THEN 'up_to_100ms' WHEN ttft_ms <= 300 THEN '100_to_300ms'
        WHEN ttft_ms <= 1000 THEN '300_to_1000ms' ELSE 'over_1000ms' END AS ttft_band,
      ttft_ms, server_ttft_ns, gateway_ns, receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns,
      CASE WHEN status <> 'streaming' AND flags & 1 = 0 THEN tpot_ms END AS tpot_ms,
      CASE WHEN status <> 'streaming' AND flags & 1 = 0 THEN gap_max_ms END AS gap_max_ms,
      CASE WHEN status <> 'streaming' THEN first_screen_ms END AS first_screen_ms,
      CASE WHEN status <> 'streaming' THEN render_p50_ms END AS render_lag_ms,
      CASE WHEN status <> 'streaming' THEN render_ns END AS render_ns,
      CASE WHEN flags & 32 = 0 THEN network_ns END AS network_ns,
      CASE WHEN server_ttft_ns IS NOT NULL THEN unattributed_ns END AS unattributed_ns,
      floor(ttft_ms * 1e6 + 0.5) - server_ttft_ns AS hidden_tax_ns
    FROM requests WHERE flags & 2 = 0
  ), samples AS (
    SELECT f.*, s.* FROM facts f CROSS JOIN LATERAL (
      SELECT 'client' AS grain, metric, NULL AS stage, value_ms FROM (VALUES ('ttft_client', f.ttft_ms), ('tpot', f.tpot_ms),
        ('gap_max', f.gap_max_ms), ('first_screen', f.first_screen_ms), ('render_lag', f.render_lag_ms),
        ('hidden_tax', CASE WHEN f.hidden_tax_ns >= 0 THEN f.hidden_tax_ns / 1e6 END)) AS v(metric, value_ms)
      UNION ALL
      SELECT 'route' AS grain, metric, NULL AS stage, value_ms FROM (VALUES ('ttft_server', f.server_ttft_ns / 1e6::double precision),
        ('ttft_client', f.ttft_ms), ('tpot', f.tpot_ms), ('first_screen', f.first_screen_ms)) AS v(metric, value_ms)
      UNION ALL
      SELECT 'stage' AS grain, 'stage_duration' AS metric, stage, duration_ns / 1e6::double precision AS value_ms FROM (VALUES ('gateway', f.gateway_ns),
        ('receive', f.receive_ns), ('preprocess', f.preprocess_ns), ('kv_load', f.kv_load_ns), ('queue', f.queue_ns),
        ('first_token', f.first_token_ns), ('serialize', f.serialize_ns), ('send', f.send_ns), ('network', f.network_ns),
        ('render', f.render_ns), ('unattributed', f.unattributed_ns)) AS v(stage, duration_ns)
      UNION ALL
      SELECT 'outcome' AS grain, 'requests' AS metric, NULL AS stage, 0 AS value_ms) AS s
    WHERE s.value_ms IS NOT NULL
  )
  SELECT received_on, grain, metric, hour,
    CASE WHEN grain IN ('client', 'route', 'stage') THEN model END AS model,
    CASE WHEN grain = 'client' THEN region END AS region,
    CASE WHEN grain = 'client' THEN device END AS device,
    CASE WHEN grain = 'route' THEN route END AS route,
    CASE WHEN grain IN ('route', 'outcome') THEN variant END AS variant,
    CASE WHEN grain = 'route' THEN tier END AS tier,
    stage,
    CASE WHEN grain = 'outcome' THEN outcome END AS outcome,
    CASE WHEN grain = 'outcome' THEN ttft_band END AS ttft_band,
    width_bucket(value_ms, edges_ms)::smallint AS bucket,
    count(*) AS n
  FROM samples CROSS JOIN edges
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14`;

/** Rows from before the rollups: a later half of theirs will take away what they count as. */
async function countWhatIsThere(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TEMPORARY TABLE recounted ON COMMIT DROP AS SELECT * FROM rollups_recounted`.execute(db);
  // All metrics of a combination at once, as the ingest makes them.
  await sql
    .raw(`
    INSERT INTO rollup_cells (grain, metric, stage, ${FROM_ROWS})
    SELECT grain, metric, stage, ${FROM_ROWS}
    FROM (SELECT DISTINCT grain, ${FROM_ROWS} FROM recounted) AS combinations JOIN (VALUES ${SERIES}) AS s(grain, metric, stage)
      USING (grain)`)
    .execute(db);
  await sql
    .raw(`
    INSERT INTO rollup_hours (hour, cell, buckets, counts)
    SELECT hour, cell, array_agg(bucket), array_agg(n)
    FROM (
      SELECT r.hour, c.id AS cell, r.bucket, sum(r.n)::integer AS n
      FROM recounted r JOIN rollup_cells c
        ON jsonb_build_array(c.grain, c.metric, ${dimensionsOf('c')}) = jsonb_build_array(r.grain, r.metric, ${dimensionsOf('r')})
      GROUP BY r.hour, c.id, r.bucket
    ) AS summed GROUP BY hour, cell`)
    .execute(db);
}

const COMMENTS: readonly (readonly [string, string])[] = [
  [
    'TABLE rollup_buckets',
    'Buckets of the rollups. Each is 2 % wide, so that what it stands for is at most 1 % off; bucket 0 is everything below a microsecond.',
  ],
  ['COLUMN rollup_buckets.bucket', 'Number of the bucket; a longer duration is never in a lower one.'],
  ['COLUMN rollup_buckets.from_ms', 'Lowest duration in the bucket, inclusive (milliseconds).'],
  ['COLUMN rollup_buckets.to_ms', 'Where the next bucket begins (milliseconds).'],
  ['COLUMN rollup_buckets.value_ms', 'The duration that the bucket stands for (milliseconds).'],
  [
    'TABLE rollup_cells',
    'What is counted apart: one cell per grain, metric and combination of values. Cells are made by the ingest, and never removed.',
  ],
  ['COLUMN rollup_cells.id', 'Number of the cell, in the order of making.'],
  [
    'COLUMN rollup_cells.grain',
    'Which dimensions are kept apart: client (model, region, device), route (model, route, variant, tier), stage (stage, model), outcome (variant, outcome, ttft_band). The others are null.',
  ],
  ['COLUMN rollup_cells.metric', 'The duration that is counted; requests counts requests, in bucket 0.'],
  [
    'COLUMN rollup_cells.overflow',
    'Takes the combinations beyond the cap of its grain, as other; once it is there, no further are made.',
  ],
  ...DIMENSION_NAMES.map((name): [string, string] => [
    `COLUMN rollup_cells.${name}`,
    `Value of the dimension, unknown where the request has none; null where the grain does not have it.`,
  ]),
  [
    'TABLE rollup_deltas',
    'Counts that are not folded into hours and days yet. Append only; a flush writes one line per hour in the transaction of its rows, the folding process takes them away.',
  ],
  ['COLUMN rollup_deltas.id', 'In the order of writing.'],
  ['COLUMN rollup_deltas.hour', 'Hour in UTC in which the requests started.'],
  ['COLUMN rollup_deltas.cells', 'Cells, one entry per count.'],
  ['COLUMN rollup_deltas.buckets', 'Buckets, one entry per count.'],
  [
    'COLUMN rollup_deltas.counts',
    'By how much the count of the cell and bucket changes; negative where a later half moved a request.',
  ],
  ['TABLE rollup_hours', 'Folded histograms by hour. Read them through the view rollups.'],
  ['COLUMN rollup_hours.hour', 'Hour in UTC in which the requests started.'],
  ['COLUMN rollup_hours.cell', 'Cell.'],
  ['COLUMN rollup_hours.buckets', 'Buckets with requests in them, in any order.'],
  ['COLUMN rollup_hours.counts', 'Requests per bucket, in the order of buckets.'],
  ['TABLE rollup_progress', 'One row: how far the rollups are closed.'],
  ['COLUMN rollup_progress.only_row', 'Always true.'],
  [
    'COLUMN rollup_progress.closed_through',
    'Days up to this one, in UTC, are in rollup_days; later ones are made from rollup_hours.',
  ],
  [
    'TABLE rollup_days',
    'Histograms of closed days. Read them through the view rollups_daily, which makes the open ones from hours.',
  ],
  ['COLUMN rollup_days.day', 'Day in UTC on which the requests started.'],
  ['COLUMN rollup_days.cell', 'Cell.'],
  ['COLUMN rollup_days.buckets', 'Buckets with requests in them, in any order.'],
  ['COLUMN rollup_days.counts', 'Requests per bucket, in the order of buckets.'],
  ...[
    ['rollups', 'hour', 'Hour in UTC in which the requests started.'],
    ['rollups_daily', 'day', 'Day in UTC on which the requests started.'],
  ].flatMap(([view, time, meaning]): [string, string][] => [
    [
      `VIEW ${view}`,
      `Histograms by ${time}, complete to the last commit. Always sum n: a bucket may have several lines, and negative ones. Example: SELECT region, sum(n), rollup_percentile(0.95, array_agg(bucket), array_agg(n)) AS p95_ms FROM ${view} WHERE grain = 'client' AND metric = 'ttft_client' AND ${time} >= now() - interval '7 days' GROUP BY region`,
    ],
    [`COLUMN ${view}.grain`, 'Which dimensions are kept apart; add up lines of one grain only.'],
    [`COLUMN ${view}.metric`, 'The duration that is counted; requests counts requests.'],
    [`COLUMN ${view}.${time}`, meaning!],
    [`COLUMN ${view}.bucket`, 'Bucket of the duration.'],
    [`COLUMN ${view}.value_ms`, 'The duration that the bucket stands for, at most 1 % off (milliseconds).'],
    [`COLUMN ${view}.n`, 'Requests, to be summed.'],
  ]),
  [
    'FUNCTION rollup_percentiles(double precision[], smallint[], bigint[])',
    'Several percentiles at once, which costs little more than one; see rollup_percentile.',
  ],
  [
    'FUNCTION rollup_percentile(double precision, smallint[], bigint[])',
    'Nearest-rank percentile in milliseconds, as percentile_disc, at most 1 % off: fraction from 0 to 1, and buckets and counts of any lines of rollups, in any order. Null without requests.',
  ],
  [
    'VIEW rollups_recounted',
    'The rollups by hour, counted anew from the requests that are kept: slow, for checking, best within bounds of received_on. Combinations beyond the cap are told apart here.',
  ],
  ['COLUMN rollups_recounted.received_on', 'Day of receipt of the requests (requests.day).'],
];
