-- Written by `npm run schema` from the migrations. Do not edit.

CREATE TYPE connection AS ENUM ('slow-2g', '2g', '3g', '4g', '5g', 'wifi', 'ethernet', 'offline', 'other');
CREATE TYPE device AS ENUM ('desktop', 'mobile', 'tablet', 'tv', 'bot', 'server', 'other');
CREATE TYPE server_source AS ENUM ('echo', 'direct');
CREATE TYPE stream_status AS ENUM ('streaming', 'complete', 'aborted', 'truncated', 'error', 'no_output');
CREATE TYPE token_source AS ENUM ('usage', 'chunks', 'events');

CREATE OR REPLACE FUNCTION flag_names(flags smallint)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN array_remove(ARRAY[CASE WHEN (((flags)::integer & 1) <> 0) THEN 'coalesced'::text ELSE NULL::text END, CASE WHEN (((flags)::integer & 2) <> 0) THEN 'suspended'::text ELSE NULL::text END, CASE WHEN (((flags)::integer & 4) <> 0) THEN 'hidden'::text ELSE NULL::text END, CASE WHEN (((flags)::integer & 8) <> 0) THEN 'first_tokens_unknown'::text ELSE NULL::text END, CASE WHEN (((flags)::integer & 16) <> 0) THEN 'stage_overflow'::text ELSE NULL::text END, CASE WHEN (((flags)::integer & 32) <> 0) THEN 'clock_anomaly'::text ELSE NULL::text END, CASE WHEN (((flags)::integer & 64) <> 0) THEN 'started_at_replaced'::text ELSE NULL::text END], NULL::text)
;

CREATE OR REPLACE FUNCTION make_rollup_sums(of_hours timestamp with time zone[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$ BEGIN
    DELETE FROM rollup_sums WHERE hour = ANY (of_hours);
    INSERT INTO rollup_sums (hour, grain, metric, region, device, variant, stage, buckets, counts, upto)
    SELECT hour, grain, metric, region, device, variant, stage, array_agg(bucket ORDER BY bucket), array_agg(n ORDER BY bucket), array_agg(upto ORDER BY bucket)
    FROM (
      SELECT hour, grain, metric, region, device, variant, stage, bucket, n, (sum(n) OVER (PARTITION BY hour, grain, metric, region, device, variant, stage ORDER BY bucket))::integer AS upto
      FROM (
        SELECT hour, grain, metric, region, device, variant, stage, bucket, sum(n)::integer AS n
        FROM (
          SELECT h.hour, c.grain, c.metric, c.region, c.device, c.variant, c.stage, unnest(h.buckets) AS bucket, unnest(h.counts) AS n
          FROM rollup_cells c JOIN rollup_hours h ON h.cell = c.id
          WHERE h.hour = ANY (of_hours) AND (c.grain, c.metric) IN (('client', 'ttft_client'), ('route', 'ttft_client'), ('route', 'tpot'), ('route', 'first_screen'), ('stage', 'stage_duration'))
        ) AS entries GROUP BY hour, grain, metric, region, device, variant, stage, bucket HAVING sum(n) > 0
      ) AS counted
    ) AS ranked GROUP BY hour, grain, metric, region, device, variant, stage;
  END $function$
;

CREATE OR REPLACE FUNCTION rollup_percentile(fraction double precision, buckets smallint[], counts bigint[])
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
  BEGIN
    RETURN (rollup_percentiles(ARRAY[fraction], buckets, counts))[1];
  END $function$
;

CREATE OR REPLACE FUNCTION rollup_percentiles(fractions double precision[], buckets smallint[], counts bigint[])
 RETURNS double precision[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
        ELSE 0.001 * power(1.02::double precision, bucket - 1) * (2 * 1.02) / (1 + 1.02) END::double precision;
    END LOOP;
    RETURN values_ms;
  END $function$
;

CREATE TABLE label_values (
  label text NOT NULL,
  value text NOT NULL,
  accepted_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT label_values_pkey PRIMARY KEY (label, value),
  CONSTRAINT label_values_label_check CHECK (label = ANY (ARRAY['model'::text, 'route'::text, 'variant'::text, 'tier'::text, 'backend'::text, 'region'::text])),
  CONSTRAINT label_values_value_check CHECK (length(value) >= 1 AND length(value) <= 128)
);

CREATE TABLE request_arrivals (
  trace_id uuid NOT NULL,
  day date NOT NULL,
  arrivals_ms real[],
  chunk_tokens smallint[],
  CONSTRAINT request_arrivals_pkey PRIMARY KEY (trace_id, day),
  CONSTRAINT arrivals_not_many CHECK (cardinality(arrivals_ms) <= 4096 AND cardinality(chunk_tokens) <= 4096)
) PARTITION BY RANGE (day);

CREATE TABLE request_picks (
  hour timestamp with time zone NOT NULL,
  pick text NOT NULL,
  place smallint NOT NULL,
  trace_id uuid NOT NULL,
  day date NOT NULL,
  started_at timestamp with time zone NOT NULL,
  ttft_ms double precision,
  gap_max_ms real,
  model text,
  route text,
  variant text,
  tier text,
  region text,
  device device,
  stands_for real,
  connection connection,
  status stream_status,
  flags smallint,
  tpot_ms real,
  first_screen_ms real,
  quantization text,
  decoding text,
  temperature real,
  sub_stages_ns jsonb,
  CONSTRAINT request_picks_pkey PRIMARY KEY (pick, hour, place),
  CONSTRAINT known_pick CHECK (pick = ANY (ARRAY['slowest'::text, 'longest_gap'::text, 'sample'::text])),
  CONSTRAINT places_from_1 CHECK (place >= 1),
  CONSTRAINT whole_hour CHECK ((EXTRACT(epoch FROM hour) % 3600::numeric) = 0::numeric)
);

CREATE TABLE request_picks_progress (
  only_row boolean DEFAULT true NOT NULL,
  picked_before timestamp with time zone NOT NULL,
  CONSTRAINT request_picks_progress_pkey PRIMARY KEY (only_row),
  CONSTRAINT one_row CHECK (only_row)
);

CREATE TABLE requests (
  trace_id uuid NOT NULL,
  started_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  receive_ns bigint,
  preprocess_ns bigint,
  kv_load_ns bigint,
  queue_ns bigint,
  first_token_ns bigint,
  serialize_ns bigint,
  send_ns bigint,
  server_ttft_ns bigint,
  unattributed_ns bigint,
  gateway_ns bigint,
  network_ns bigint,
  render_ns bigint,
  ttft_ms double precision,
  ttft_visible_ms double precision,
  end_ms double precision,
  parent_span_id bigint,
  day date NOT NULL,
  seq integer,
  output_tokens integer,
  prompt_tokens integer,
  cached_tokens integer,
  prompt_chars integer,
  server_output_tokens integer,
  top_k integer,
  tpot_ms real,
  gap_max_ms real,
  gap_mean_ms real,
  gap_stddev_ms real,
  first20_mean_ms real,
  window10_stddev_max_ms real,
  first_screen_ms real,
  render_p50_ms real,
  render_max_ms real,
  gateway_request_ms real,
  temperature real,
  status stream_status,
  output_tokens_source token_source,
  device device,
  connection connection,
  server_source server_source,
  server_status smallint,
  gateway_status smallint,
  batch_size smallint,
  flags smallint DEFAULT 0 NOT NULL,
  direct_fields smallint DEFAULT 0 NOT NULL,
  stamp_count smallint,
  settled boolean DEFAULT false NOT NULL,
  ttft_basis text,
  model text,
  route text,
  variant text,
  tier text,
  backend text,
  region text,
  carrier text,
  quantization text,
  decoding text,
  trace_ref text,
  call_id text,
  sub_stages_ns jsonb,
  connection_dns_ms real,
  connection_tcp_ms real,
  connection_tls_ms real,
  connection_wait_ms real,
  CONSTRAINT requests_pkey PRIMARY KEY (trace_id, day),
  CONSTRAINT client_half_has_seq CHECK ((status IS NULL) = (seq IS NULL)),
  CONSTRAINT client_times_within_a_day CHECK (LEAST(ttft_ms, ttft_visible_ms, end_ms) >= 0::double precision AND GREATEST(ttft_ms, ttft_visible_ms, end_ms) <= 86400000::double precision),
  CONSTRAINT connection_within_a_day CHECK (LEAST(connection_dns_ms, connection_tcp_ms, connection_tls_ms, connection_wait_ms) >= 0::double precision AND GREATEST(connection_dns_ms, connection_tcp_ms, connection_tls_ms, connection_wait_ms) <= 86400000::double precision),
  CONSTRAINT counts_not_negative CHECK (LEAST(seq, output_tokens, prompt_tokens, cached_tokens, prompt_chars, server_output_tokens, batch_size::integer) >= 0),
  CONSTRAINT measures_not_negative CHECK (LEAST(tpot_ms, gap_max_ms, gap_mean_ms, gap_stddev_ms, first20_mean_ms, window10_stddev_max_ms, first_screen_ms, render_p50_ms, render_max_ms, gateway_request_ms) >= 0::double precision),
  CONSTRAINT server_stages_under_an_hour CHECK (GREATEST(receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns) <= '3600000000000'::bigint),
  CONSTRAINT stages_not_negative CHECK (LEAST(receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns, server_ttft_ns, unattributed_ns, gateway_ns, network_ns, render_ns) >= 0),
  CONSTRAINT texts_not_long CHECK (GREATEST(length(model), length(route), length(variant), length(tier), length(backend), length(region), length(carrier), length(quantization), length(decoding), length(trace_ref), length(call_id)) <= 128)
) PARTITION BY RANGE (day);

CREATE TABLE rollup_buckets (
  bucket smallint NOT NULL,
  from_ms double precision NOT NULL,
  to_ms double precision NOT NULL,
  value_ms double precision NOT NULL,
  CONSTRAINT rollup_buckets_pkey PRIMARY KEY (bucket),
  CONSTRAINT edges_rise CHECK (from_ms < to_ms AND value_ms >= from_ms AND value_ms < to_ms)
);

CREATE TABLE rollup_cells (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
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
  overflow boolean DEFAULT false NOT NULL,
  CONSTRAINT rollup_cells_pkey PRIMARY KEY (id),
  CONSTRAINT one_cell_each UNIQUE NULLS NOT DISTINCT (grain, metric, model, region, device, route, variant, tier, stage, outcome, ttft_band, overflow),
  CONSTRAINT dimensions_of_grain CHECK (
CASE grain
    WHEN 'client'::text THEN num_nulls(model, region, device) = 0 AND num_nonnulls(route, variant, tier, stage, outcome, ttft_band) = 0
    WHEN 'route'::text THEN num_nulls(model, route, variant, tier) = 0 AND num_nonnulls(region, device, stage, outcome, ttft_band) = 0
    WHEN 'stage'::text THEN num_nulls(stage, model) = 0 AND num_nonnulls(region, device, route, variant, tier, outcome, ttft_band) = 0
    WHEN 'outcome'::text THEN num_nulls(variant, outcome, ttft_band) = 0 AND num_nonnulls(model, region, device, route, tier, stage) = 0
    ELSE false
END),
  CONSTRAINT texts_not_long CHECK (GREATEST(length(metric), length(model), length(region), length(device), length(route), length(variant), length(tier), length(stage), length(outcome), length(ttft_band)) <= 128)
);

CREATE TABLE rollup_days (
  day date NOT NULL,
  cell integer NOT NULL,
  buckets smallint[] NOT NULL,
  counts bigint[] NOT NULL,
  CONSTRAINT rollup_days_pkey PRIMARY KEY (cell, day),
  CONSTRAINT arrays_alike CHECK (cardinality(buckets) > 0 AND cardinality(counts) = cardinality(buckets)),
  CONSTRAINT buckets_known CHECK ((0 <= ALL (buckets)) AND (1272 >= ALL (buckets))),
  CONSTRAINT nothing_counts_zero CHECK (0 <> ALL (counts))
);

CREATE TABLE rollup_deltas (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  hour timestamp with time zone NOT NULL,
  cells integer[] NOT NULL,
  buckets smallint[] NOT NULL,
  counts smallint[] NOT NULL,
  CONSTRAINT rollup_deltas_pkey PRIMARY KEY (id),
  CONSTRAINT arrays_alike CHECK (cardinality(cells) > 0 AND cardinality(buckets) = cardinality(cells) AND cardinality(counts) = cardinality(cells)),
  CONSTRAINT whole_hour CHECK ((EXTRACT(epoch FROM hour) % 3600::numeric) = 0::numeric)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500);
ALTER TABLE rollup_deltas ALTER COLUMN cells SET STORAGE EXTERNAL;
ALTER TABLE rollup_deltas ALTER COLUMN buckets SET STORAGE EXTERNAL;
ALTER TABLE rollup_deltas ALTER COLUMN counts SET STORAGE EXTERNAL;

CREATE TABLE rollup_hours (
  hour timestamp with time zone NOT NULL,
  cell integer NOT NULL,
  buckets smallint[] NOT NULL,
  counts integer[] NOT NULL,
  CONSTRAINT rollup_hours_pkey PRIMARY KEY (cell, hour),
  CONSTRAINT arrays_alike CHECK (cardinality(buckets) > 0 AND cardinality(counts) = cardinality(buckets)),
  CONSTRAINT buckets_known CHECK ((0 <= ALL (buckets)) AND (1272 >= ALL (buckets))),
  CONSTRAINT nothing_counts_zero CHECK (0 <> ALL (counts)),
  CONSTRAINT whole_hour CHECK ((EXTRACT(epoch FROM hour) % 3600::numeric) = 0::numeric)
) WITH (fillfactor=70);

CREATE TABLE rollup_progress (
  only_row boolean DEFAULT true NOT NULL,
  closed_through date NOT NULL,
  CONSTRAINT rollup_progress_pkey PRIMARY KEY (only_row),
  CONSTRAINT one_row CHECK (only_row)
);

CREATE TABLE rollup_sums (
  hour timestamp with time zone NOT NULL,
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
  CONSTRAINT arrays_alike CHECK (cardinality(buckets) > 0 AND cardinality(counts) = cardinality(buckets) AND cardinality(upto) = cardinality(buckets))
);

CREATE INDEX requests_started_at ON requests USING brin (started_at) WITH (pages_per_range='32');

CREATE VIEW request_stages AS
 SELECT r.trace_id,
    r.day,
    r.started_at,
    s.stage,
    s."position",
    s.duration_ns,
    s.duration_ns::double precision / '1000000'::numeric::double precision AS duration_ms
   FROM requests r
     CROSS JOIN LATERAL ( VALUES ('gateway'::text,1,r.gateway_ns), ('receive'::text,2,r.receive_ns), ('preprocess'::text,3,r.preprocess_ns), ('kv_load'::text,4,r.kv_load_ns), ('queue'::text,5,r.queue_ns), ('first_token'::text,6,r.first_token_ns), ('serialize'::text,7,r.serialize_ns), ('send'::text,8,r.send_ns), ('network'::text,9,r.network_ns), ('render'::text,10,r.render_ns), ('unattributed'::text,11,r.unattributed_ns)) s(stage, "position", duration_ns)
  WHERE s.duration_ns IS NOT NULL;

CREATE VIEW rollups AS
 SELECT l.grain,
    l.metric,
    l.hour,
    l.model,
    l.region,
    l.device,
    l.route,
    l.variant,
    l.tier,
    l.stage,
    l.outcome,
    l.ttft_band,
    l.bucket,
    b.value_ms,
    l.n::bigint AS n
   FROM ( SELECT c.grain,
            c.metric,
            f.hour,
            c.model,
            c.region,
            c.device,
            c.route,
            c.variant,
            c.tier,
            c.stage,
            c.outcome,
            c.ttft_band,
            unnest(f.buckets) AS bucket,
            unnest(f.counts) AS n
           FROM rollup_cells c
             JOIN rollup_hours f ON f.cell = c.id) l
     LEFT JOIN rollup_buckets b USING (bucket)
UNION ALL
 SELECT c.grain,
    c.metric,
    l.hour,
    c.model,
    c.region,
    c.device,
    c.route,
    c.variant,
    c.tier,
    c.stage,
    c.outcome,
    c.ttft_band,
    l.bucket,
    b.value_ms,
    l.n::bigint AS n
   FROM ( SELECT rollup_deltas.hour,
            unnest(rollup_deltas.cells) AS cell,
            unnest(rollup_deltas.buckets) AS bucket,
            unnest(rollup_deltas.counts) AS n
           FROM rollup_deltas) l
     JOIN rollup_cells c ON c.id = l.cell
     LEFT JOIN rollup_buckets b USING (bucket);

CREATE VIEW rollups_daily AS
 SELECT l.grain,
    l.metric,
    l.day,
    l.model,
    l.region,
    l.device,
    l.route,
    l.variant,
    l.tier,
    l.stage,
    l.outcome,
    l.ttft_band,
    l.bucket,
    b.value_ms,
    l.n
   FROM ( SELECT c.grain,
            c.metric,
            f.day,
            c.model,
            c.region,
            c.device,
            c.route,
            c.variant,
            c.tier,
            c.stage,
            c.outcome,
            c.ttft_band,
            unnest(f.buckets) AS bucket,
            unnest(f.counts) AS n
           FROM rollup_cells c
             JOIN rollup_days f ON f.cell = c.id) l
     LEFT JOIN rollup_buckets b USING (bucket)
UNION ALL
 SELECT l.grain,
    l.metric,
    l.day,
    l.model,
    l.region,
    l.device,
    l.route,
    l.variant,
    l.tier,
    l.stage,
    l.outcome,
    l.ttft_band,
    l.bucket,
    b.value_ms,
    l.n::bigint AS n
   FROM ( SELECT c.grain,
            c.metric,
            (f.hour AT TIME ZONE 'UTC'::text)::date AS day,
            c.model,
            c.region,
            c.device,
            c.route,
            c.variant,
            c.tier,
            c.stage,
            c.outcome,
            c.ttft_band,
            unnest(f.buckets) AS bucket,
            unnest(f.counts) AS n
           FROM rollup_cells c
             JOIN rollup_hours f ON f.cell = c.id
          WHERE f.hour >= (( SELECT ((rollup_progress.closed_through + 1)::timestamp without time zone AT TIME ZONE 'UTC'::text) AS timezone
                   FROM rollup_progress))) l
     LEFT JOIN rollup_buckets b USING (bucket)
UNION ALL
 SELECT c.grain,
    c.metric,
    l.day,
    c.model,
    c.region,
    c.device,
    c.route,
    c.variant,
    c.tier,
    c.stage,
    c.outcome,
    c.ttft_band,
    l.bucket,
    b.value_ms,
    l.n::bigint AS n
   FROM ( SELECT (rollup_deltas.hour AT TIME ZONE 'UTC'::text)::date AS day,
            unnest(rollup_deltas.cells) AS cell,
            unnest(rollup_deltas.buckets) AS bucket,
            unnest(rollup_deltas.counts) AS n
           FROM rollup_deltas) l
     JOIN rollup_cells c ON c.id = l.cell
     LEFT JOIN rollup_buckets b USING (bucket);

CREATE VIEW rollups_recounted AS
 WITH edges AS (
         SELECT array_agg(rollup_buckets.from_ms ORDER BY rollup_buckets.bucket) FILTER (WHERE rollup_buckets.bucket > 0) AS edges_ms
           FROM rollup_buckets
        ), facts AS (
         SELECT requests.day AS received_on,
            date_trunc('hour'::text, requests.started_at, 'UTC'::text) AS hour,
            COALESCE(requests.model, 'unknown'::text) AS model,
            COALESCE(requests.region, 'unknown'::text) AS region,
            COALESCE(requests.device::text, 'unknown'::text) AS device,
            COALESCE(requests.route, 'unknown'::text) AS route,
            COALESCE(requests.variant, 'unknown'::text) AS variant,
            COALESCE(requests.tier, 'unknown'::text) AS tier,
            COALESCE(requests.status::text, 'unknown'::text) AS outcome,
                CASE
                    WHEN requests.ttft_ms IS NULL THEN 'unknown'::text
                    WHEN requests.ttft_ms <= 100::double precision THEN 'up_to_100ms'::text
                    WHEN requests.ttft_ms <= 300::double precision THEN '100_to_300ms'::text
                    WHEN requests.ttft_ms <= 1000::double precision THEN '300_to_1000ms'::text
                    ELSE 'over_1000ms'::text
                END AS ttft_band,
            requests.ttft_ms,
            requests.server_ttft_ns,
            requests.gateway_ns,
            requests.receive_ns,
            requests.preprocess_ns,
            requests.kv_load_ns,
            requests.queue_ns,
            requests.first_token_ns,
            requests.serialize_ns,
            requests.send_ns,
                CASE
                    WHEN requests.status <> 'streaming'::stream_status AND (requests.flags::integer & 1) = 0 THEN requests.tpot_ms
                    ELSE NULL::real
                END AS tpot_ms,
                CASE
                    WHEN requests.status <> 'streaming'::stream_status AND (requests.flags::integer & 1) = 0 THEN requests.gap_max_ms
                    ELSE NULL::real
                END AS gap_max_ms,
                CASE
                    WHEN requests.status <> 'streaming'::stream_status THEN requests.first_screen_ms
                    ELSE NULL::real
                END AS first_screen_ms,
                CASE
                    WHEN requests.status <> 'streaming'::stream_status THEN requests.render_p50_ms
                    ELSE NULL::real
                END AS render_lag_ms,
                CASE
                    WHEN requests.status <> 'streaming'::stream_status THEN requests.render_ns
                    ELSE NULL::bigint
                END AS render_ns,
                CASE
                    WHEN (requests.flags::integer & 32) = 0 THEN requests.network_ns
                    ELSE NULL::bigint
                END AS network_ns,
                CASE
                    WHEN requests.server_ttft_ns IS NOT NULL THEN requests.unattributed_ns
                    ELSE NULL::bigint
                END AS unattributed_ns,
            floor(requests.ttft_ms * '1000000'::numeric::double precision + 0.5::double precision) - requests.server_ttft_ns::double precision AS hidden_tax_ns
           FROM requests
          WHERE (requests.flags::integer & 2) = 0
        ), samples AS (
         SELECT f.received_on,
            f.hour,
            f.model,
            f.region,
            f.device,
            f.route,
            f.variant,
            f.tier,
            f.outcome,
            f.ttft_band,
            f.ttft_ms,
            f.server_ttft_ns,
            f.gateway_ns,
            f.receive_ns,
            f.preprocess_ns,
            f.kv_load_ns,
            f.queue_ns,
            f.first_token_ns,
            f.serialize_ns,
            f.send_ns,
            f.tpot_ms,
            f.gap_max_ms,
            f.first_screen_ms,
            f.render_lag_ms,
            f.render_ns,
            f.network_ns,
            f.unattributed_ns,
            f.hidden_tax_ns,
            s.grain,
            s.metric,
            s.stage,
            s.value_ms
           FROM facts f
             CROSS JOIN LATERAL ( SELECT 'client'::text AS grain,
                    v.metric,
                    NULL::text AS stage,
                    v.value_ms
                   FROM ( VALUES ('ttft_client'::text,f.ttft_ms), ('tpot'::text,f.tpot_ms), ('gap_max'::text,f.gap_max_ms), ('first_screen'::text,f.first_screen_ms), ('render_lag'::text,f.render_lag_ms), ('hidden_tax'::text,
                                CASE
                                    WHEN f.hidden_tax_ns >= 0::double precision THEN f.hidden_tax_ns / '1000000'::numeric::double precision
                                    ELSE NULL::double precision
                                END)) v(metric, value_ms)
                UNION ALL
                 SELECT 'route'::text AS grain,
                    v.metric,
                    NULL::text AS stage,
                    v.value_ms
                   FROM ( VALUES ('ttft_server'::text,f.server_ttft_ns::double precision / '1000000'::numeric::double precision), ('ttft_client'::text,f.ttft_ms), ('tpot'::text,f.tpot_ms), ('first_screen'::text,f.first_screen_ms)) v(metric, value_ms)
                UNION ALL
                 SELECT 'stage'::text AS grain,
                    'stage_duration'::text AS metric,
                    v.stage,
                    v.duration_ns::double precision / '1000000'::numeric::double precision AS value_ms
                   FROM ( VALUES ('gateway'::text,f.gateway_ns), ('receive'::text,f.receive_ns), ('preprocess'::text,f.preprocess_ns), ('kv_load'::text,f.kv_load_ns), ('queue'::text,f.queue_ns), ('first_token'::text,f.first_token_ns), ('serialize'::text,f.serialize_ns), ('send'::text,f.send_ns), ('network'::text,f.network_ns), ('render'::text,f.render_ns), ('unattributed'::text,f.unattributed_ns)) v(stage, duration_ns)
                UNION ALL
                 SELECT 'outcome'::text AS grain,
                    'requests'::text AS metric,
                    NULL::text AS stage,
                    0 AS value_ms) s
          WHERE s.value_ms IS NOT NULL
        )
 SELECT samples.received_on,
    samples.grain,
    samples.metric,
    samples.hour,
        CASE
            WHEN samples.grain = ANY (ARRAY['client'::text, 'route'::text, 'stage'::text]) THEN samples.model
            ELSE NULL::text
        END AS model,
        CASE
            WHEN samples.grain = 'client'::text THEN samples.region
            ELSE NULL::text
        END AS region,
        CASE
            WHEN samples.grain = 'client'::text THEN samples.device
            ELSE NULL::text
        END AS device,
        CASE
            WHEN samples.grain = 'route'::text THEN samples.route
            ELSE NULL::text
        END AS route,
        CASE
            WHEN samples.grain = ANY (ARRAY['route'::text, 'outcome'::text]) THEN samples.variant
            ELSE NULL::text
        END AS variant,
        CASE
            WHEN samples.grain = 'route'::text THEN samples.tier
            ELSE NULL::text
        END AS tier,
    samples.stage,
        CASE
            WHEN samples.grain = 'outcome'::text THEN samples.outcome
            ELSE NULL::text
        END AS outcome,
        CASE
            WHEN samples.grain = 'outcome'::text THEN samples.ttft_band
            ELSE NULL::text
        END AS ttft_band,
    width_bucket(samples.value_ms, edges.edges_ms)::smallint AS bucket,
    count(*) AS n
   FROM samples
     CROSS JOIN edges
  GROUP BY samples.received_on, samples.grain, samples.metric, samples.hour, (
        CASE
            WHEN samples.grain = ANY (ARRAY['client'::text, 'route'::text, 'stage'::text]) THEN samples.model
            ELSE NULL::text
        END), (
        CASE
            WHEN samples.grain = 'client'::text THEN samples.region
            ELSE NULL::text
        END), (
        CASE
            WHEN samples.grain = 'client'::text THEN samples.device
            ELSE NULL::text
        END), (
        CASE
            WHEN samples.grain = 'route'::text THEN samples.route
            ELSE NULL::text
        END), (
        CASE
            WHEN samples.grain = ANY (ARRAY['route'::text, 'outcome'::text]) THEN samples.variant
            ELSE NULL::text
        END), (
        CASE
            WHEN samples.grain = 'route'::text THEN samples.tier
            ELSE NULL::text
        END), samples.stage, (
        CASE
            WHEN samples.grain = 'outcome'::text THEN samples.outcome
            ELSE NULL::text
        END), (
        CASE
            WHEN samples.grain = 'outcome'::text THEN samples.ttft_band
            ELSE NULL::text
        END), (width_bucket(samples.value_ms, edges.edges_ms)::smallint);

COMMENT ON TABLE label_values IS 'Accepted values of metric labels, capped, shared by all replicas.';
COMMENT ON COLUMN label_values.label IS 'Name of the label.';
COMMENT ON COLUMN label_values.value IS 'An accepted value; any other counts as ''other''.';
COMMENT ON COLUMN label_values.accepted_at IS 'When the value was first accepted.';
COMMENT ON TABLE request_arrivals IS 'The arrivals of each stream whose client told them; partitioned by day as requests. Written once, rarely again.';
COMMENT ON COLUMN request_arrivals.trace_id IS 'Key of the request, as in requests.';
COMMENT ON COLUMN request_arrivals.day IS 'Day of the request, as in requests.';
COMMENT ON COLUMN request_arrivals.arrivals_ms IS 'Arrivals of token-bearing events, from the fetch call (milliseconds).';
COMMENT ON COLUMN request_arrivals.chunk_tokens IS 'Tokens of each arrival; null where the client did not count them.';
COMMENT ON TABLE request_picks IS 'Requests of each closed hour that panels over days show: the slowest, those with the longest gaps, and a sample. The rest of them is in requests.';
COMMENT ON COLUMN request_picks.hour IS 'Hour in UTC in which the request started.';
COMMENT ON COLUMN request_picks.pick IS 'What it was picked as: slowest, longest_gap or sample.';
COMMENT ON COLUMN request_picks.place IS 'Its place among those of the hour, from 1; of a sample, a random one.';
COMMENT ON COLUMN request_picks.trace_id IS 'Key of the request, as in requests.';
COMMENT ON COLUMN request_picks.day IS 'Day of the request, as in requests.';
COMMENT ON COLUMN request_picks.started_at IS 'Start of the request.';
COMMENT ON COLUMN request_picks.ttft_ms IS 'Client time to first token (milliseconds), when it was picked.';
COMMENT ON COLUMN request_picks.gap_max_ms IS 'Longest gap (milliseconds), when it was picked.';
COMMENT ON COLUMN request_picks.model IS 'Model, as in requests.';
COMMENT ON COLUMN request_picks.route IS 'Route, as in requests.';
COMMENT ON COLUMN request_picks.variant IS 'Variant, as in requests.';
COMMENT ON COLUMN request_picks.tier IS 'Tier, as in requests.';
COMMENT ON COLUMN request_picks.region IS 'Region, as in requests.';
COMMENT ON COLUMN request_picks.device IS 'Device, as in requests.';
COMMENT ON COLUMN request_picks.stands_for IS 'Requests of the hour divided by those sampled of it: how many this one stands for.';
COMMENT ON COLUMN request_picks.connection IS 'The client''s connection, as in requests, when it was picked.';
COMMENT ON COLUMN request_picks.status IS 'How the stream ended, as in requests, when it was picked.';
COMMENT ON COLUMN request_picks.flags IS 'Flags, as in requests, when it was picked.';
COMMENT ON COLUMN request_picks.tpot_ms IS 'Time per output token (milliseconds), when it was picked.';
COMMENT ON COLUMN request_picks.first_screen_ms IS 'Arrival of output token 50 (milliseconds), when it was picked.';
COMMENT ON COLUMN request_picks.quantization IS 'Quantisation, as in requests.';
COMMENT ON COLUMN request_picks.decoding IS 'Decoding, as in requests.';
COMMENT ON COLUMN request_picks.temperature IS 'Temperature, as in requests.';
COMMENT ON COLUMN request_picks.sub_stages_ns IS 'Named pieces of work (nanoseconds), as in requests.';
COMMENT ON TABLE request_picks_progress IS 'One row: how far the picks are made.';
COMMENT ON COLUMN request_picks_progress.only_row IS 'Always true.';
COMMENT ON COLUMN request_picks_progress.picked_before IS 'Hours that begin before this are picked; later requests are read from requests.';
COMMENT ON VIEW request_stages IS 'One row per request and known stage, in the order of the stages; unattributed last.';
COMMENT ON COLUMN request_stages.duration_ns IS 'Duration of the stage, exact (nanoseconds).';
COMMENT ON COLUMN request_stages.duration_ms IS 'Duration of the stage (milliseconds).';
COMMENT ON TABLE requests IS 'One row per traced request; server, client and gateway halves meet here. Partitioned by day of receipt.';
COMMENT ON COLUMN requests.trace_id IS 'Join key: the 32 hex digits of the trace id.';
COMMENT ON COLUMN requests.started_at IS 'Start of the request, set by the first half; never changes.';
COMMENT ON COLUMN requests.updated_at IS 'When the last half was committed.';
COMMENT ON COLUMN requests.receive_ns IS 'Stage: the request is uploaded (nanoseconds; outside the server TTFT).';
COMMENT ON COLUMN requests.preprocess_ns IS 'Stage: parsing, checking, building and tokenising the prompt (nanoseconds).';
COMMENT ON COLUMN requests.kv_load_ns IS 'Stage: until the KV cache is ready (nanoseconds).';
COMMENT ON COLUMN requests.queue_ns IS 'Stage: waiting for a slot of the engine (nanoseconds; taken out of first_token).';
COMMENT ON COLUMN requests.first_token_ns IS 'Stage: first forward pass (nanoseconds).';
COMMENT ON COLUMN requests.serialize_ns IS 'Stage: first token to bytes (nanoseconds).';
COMMENT ON COLUMN requests.send_ns IS 'Stage: bytes to the network stack (nanoseconds).';
COMMENT ON COLUMN requests.server_ttft_ns IS 'Server time to first token (nanoseconds), between the stamps of ttft_basis.';
COMMENT ON COLUMN requests.unattributed_ns IS 'What of the server TTFT (without one: of the client TTFT) no known stage covers (nanoseconds).';
COMMENT ON COLUMN requests.gateway_ns IS 'Stage: held by the gateway (nanoseconds).';
COMMENT ON COLUMN requests.network_ns IS 'Stage: hidden tax less receive and gateway, at least 0 (nanoseconds).';
COMMENT ON COLUMN requests.render_ns IS 'Stage: from the arrival of the first token to its paint (nanoseconds; after the client TTFT).';
COMMENT ON COLUMN requests.ttft_ms IS 'Client time to first token, from the fetch call (milliseconds).';
COMMENT ON COLUMN requests.ttft_visible_ms IS 'Client time to the first token of visible text (milliseconds).';
COMMENT ON COLUMN requests.end_ms IS 'End of the stream, from the fetch call (milliseconds).';
COMMENT ON COLUMN requests.parent_span_id IS 'The caller''s span, as a signed 64-bit number.';
COMMENT ON COLUMN requests.day IS 'UTC day of the database clock when the first half was committed; never changes. Bound it in every query.';
COMMENT ON COLUMN requests.seq IS 'Highest sequence number of the client''s beacons; null without a client half.';
COMMENT ON COLUMN requests.output_tokens IS 'Streamed tokens, as the client counts them.';
COMMENT ON COLUMN requests.prompt_tokens IS 'Tokens of the prompt.';
COMMENT ON COLUMN requests.cached_tokens IS 'Tokens of the prompt that the prefix cache held.';
COMMENT ON COLUMN requests.prompt_chars IS 'Characters of the prompt, as the client counts them.';
COMMENT ON COLUMN requests.server_output_tokens IS 'Generated tokens, as the server counts them.';
COMMENT ON COLUMN requests.top_k IS 'Sampling: top k.';
COMMENT ON COLUMN requests.tpot_ms IS 'Time per output token after the first event (milliseconds); set with the first final beacon.';
COMMENT ON COLUMN requests.gap_max_ms IS 'Longest gap between neighbouring token-bearing events (milliseconds).';
COMMENT ON COLUMN requests.gap_mean_ms IS 'Mean gap (milliseconds).';
COMMENT ON COLUMN requests.gap_stddev_ms IS 'Population standard deviation of the gaps (milliseconds).';
COMMENT ON COLUMN requests.first20_mean_ms IS 'Time per output token over the first 20 tokens (milliseconds).';
COMMENT ON COLUMN requests.window10_stddev_max_ms IS 'Standard deviation of the worst ten neighbouring gaps (milliseconds).';
COMMENT ON COLUMN requests.first_screen_ms IS 'Arrival of output token 50, from the fetch call (milliseconds).';
COMMENT ON COLUMN requests.render_p50_ms IS 'Median lag from arrival to paint (milliseconds).';
COMMENT ON COLUMN requests.render_max_ms IS 'Longest lag from arrival to paint (milliseconds).';
COMMENT ON COLUMN requests.gateway_request_ms IS 'The gateway''s own time for the whole request (milliseconds).';
COMMENT ON COLUMN requests.temperature IS 'Sampling: temperature.';
COMMENT ON COLUMN requests.status IS 'How the stream stands, as the client saw it; null without a client half.';
COMMENT ON COLUMN requests.output_tokens_source IS 'Where output_tokens comes from.';
COMMENT ON COLUMN requests.device IS 'Kind of device of the client.';
COMMENT ON COLUMN requests.connection IS 'Kind of network connection of the client.';
COMMENT ON COLUMN requests.server_source IS 'Whether the server half was posted by the server or echoed by the client; null without a server half.';
COMMENT ON COLUMN requests.server_status IS 'HTTP status, as the server reported it.';
COMMENT ON COLUMN requests.gateway_status IS 'HTTP status, as the gateway logged it; set with every gateway half.';
COMMENT ON COLUMN requests.batch_size IS 'Requests in the engine''s batch.';
COMMENT ON COLUMN requests.flags IS 'Remarks, as bits; flag_names(flags) spells them.';
COMMENT ON COLUMN requests.direct_fields IS 'Bits: which of model, route, variant, tier, prompt_tokens a direct server half gave.';
COMMENT ON COLUMN requests.stamp_count IS 'Stamps taken of X-Timing-Trace; null without a server half.';
COMMENT ON COLUMN requests.settled IS 'Counted for good: later halves update the row, not the counters.';
COMMENT ON COLUMN requests.ttft_basis IS 'The stamps between which server_ttft_ns lies, as t1-t6.';
COMMENT ON COLUMN requests.model IS 'Model; the direct server half''s, else the client''s.';
COMMENT ON COLUMN requests.route IS 'Route of the application; the direct server half''s, else the client''s.';
COMMENT ON COLUMN requests.variant IS 'Variant under comparison; the direct server half''s, else the client''s.';
COMMENT ON COLUMN requests.tier IS 'Tier of the user; the direct server half''s, else the client''s.';
COMMENT ON COLUMN requests.backend IS 'Serving host or pod.';
COMMENT ON COLUMN requests.region IS 'Region of the client.';
COMMENT ON COLUMN requests.carrier IS 'Network operator of the client.';
COMMENT ON COLUMN requests.quantization IS 'Quantisation of the model.';
COMMENT ON COLUMN requests.decoding IS 'Decoding strategy.';
COMMENT ON COLUMN requests.trace_ref IS 'The trace id as it was spelled, where that differs from the key; logs are searched for both.';
COMMENT ON COLUMN requests.call_id IS 'Shared by the attempts of one call.';
COMMENT ON COLUMN requests.sub_stages_ns IS 'Named pieces of work inside the server (nanoseconds), never added to the sum.';
COMMENT ON COLUMN requests.connection_dns_ms IS 'Looking up the name of the server (milliseconds).';
COMMENT ON COLUMN requests.connection_tcp_ms IS 'Connecting to it (milliseconds).';
COMMENT ON COLUMN requests.connection_tls_ms IS 'Agreeing on its encryption (milliseconds).';
COMMENT ON COLUMN requests.connection_wait_ms IS 'From the request''s first byte to the first of the answer''s head (milliseconds).';
COMMENT ON TABLE rollup_buckets IS 'Buckets of the rollups. Each is 2 % wide, so that what it stands for is at most 1 % off; bucket 0 is everything below a microsecond.';
COMMENT ON COLUMN rollup_buckets.bucket IS 'Number of the bucket; a longer duration is never in a lower one.';
COMMENT ON COLUMN rollup_buckets.from_ms IS 'Lowest duration in the bucket, inclusive (milliseconds).';
COMMENT ON COLUMN rollup_buckets.to_ms IS 'Where the next bucket begins (milliseconds).';
COMMENT ON COLUMN rollup_buckets.value_ms IS 'The duration that the bucket stands for (milliseconds).';
COMMENT ON TABLE rollup_cells IS 'What is counted apart: one cell per grain, metric and combination of values. Cells are made by the ingest, and never removed.';
COMMENT ON COLUMN rollup_cells.id IS 'Number of the cell, in the order of making.';
COMMENT ON COLUMN rollup_cells.grain IS 'Which dimensions are kept apart: client (model, region, device), route (model, route, variant, tier), stage (stage, model), outcome (variant, outcome, ttft_band). The others are null.';
COMMENT ON COLUMN rollup_cells.metric IS 'The duration that is counted; requests counts requests, in bucket 0.';
COMMENT ON COLUMN rollup_cells.model IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.region IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.device IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.route IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.variant IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.tier IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.stage IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.outcome IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.ttft_band IS 'Value of the dimension, unknown where the request has none; null where the grain does not have it.';
COMMENT ON COLUMN rollup_cells.overflow IS 'Takes the combinations beyond the cap of its grain, as other; once it is there, no further are made.';
COMMENT ON TABLE rollup_days IS 'Histograms of closed days. Read them through the view rollups_daily, which makes the open ones from hours.';
COMMENT ON COLUMN rollup_days.day IS 'Day in UTC on which the requests started.';
COMMENT ON COLUMN rollup_days.cell IS 'Cell.';
COMMENT ON COLUMN rollup_days.buckets IS 'Buckets with requests in them, in any order.';
COMMENT ON COLUMN rollup_days.counts IS 'Requests per bucket, in the order of buckets.';
COMMENT ON TABLE rollup_deltas IS 'Counts that are not folded into hours and days yet. Append only; a flush writes one line per hour in the transaction of its rows, the folding process takes them away.';
COMMENT ON COLUMN rollup_deltas.id IS 'In the order of writing.';
COMMENT ON COLUMN rollup_deltas.hour IS 'Hour in UTC in which the requests started.';
COMMENT ON COLUMN rollup_deltas.cells IS 'Cells, one entry per count.';
COMMENT ON COLUMN rollup_deltas.buckets IS 'Buckets, one entry per count.';
COMMENT ON COLUMN rollup_deltas.counts IS 'By how much the count of the cell and bucket changes; negative where a later half moved a request.';
COMMENT ON TABLE rollup_hours IS 'Folded histograms by hour. Read them through the view rollups.';
COMMENT ON COLUMN rollup_hours.hour IS 'Hour in UTC in which the requests started.';
COMMENT ON COLUMN rollup_hours.cell IS 'Cell.';
COMMENT ON COLUMN rollup_hours.buckets IS 'Buckets with requests in them, in any order.';
COMMENT ON COLUMN rollup_hours.counts IS 'Requests per bucket, in the order of buckets.';
COMMENT ON TABLE rollup_progress IS 'One row: how far the rollups are closed.';
COMMENT ON COLUMN rollup_progress.only_row IS 'Always true.';
COMMENT ON COLUMN rollup_progress.closed_through IS 'Days up to this one, in UTC, are in rollup_days; later ones are made from rollup_hours.';
COMMENT ON TABLE rollup_sums IS 'Folded histograms by hour over all models, routes and tiers: what most panels ask for, in a tenth of the lines. Always the sum of rollup_hours; what is not folded is missing here too.';
COMMENT ON COLUMN rollup_sums.hour IS 'Hour in UTC in which the requests started.';
COMMENT ON COLUMN rollup_sums.grain IS 'As in rollup_cells: client is by region and device here, route by variant, stage by stage.';
COMMENT ON COLUMN rollup_sums.metric IS 'The duration that is counted.';
COMMENT ON COLUMN rollup_sums.region IS 'Value of the dimension, unknown where the request has none; null where the grain is not by it.';
COMMENT ON COLUMN rollup_sums.device IS 'Value of the dimension, unknown where the request has none; null where the grain is not by it.';
COMMENT ON COLUMN rollup_sums.variant IS 'Value of the dimension, unknown where the request has none; null where the grain is not by it.';
COMMENT ON COLUMN rollup_sums.stage IS 'Value of the dimension, unknown where the request has none; null where the grain is not by it.';
COMMENT ON COLUMN rollup_sums.buckets IS 'Buckets with requests in them, rising.';
COMMENT ON COLUMN rollup_sums.counts IS 'Requests per bucket, in the order of buckets.';
COMMENT ON COLUMN rollup_sums.upto IS 'Requests up to and including the bucket, so that width_bucket finds a percentile without adding up.';
COMMENT ON VIEW rollups IS 'Histograms by hour, complete to the last commit. Always sum n: a bucket may have several lines, and negative ones. Example: SELECT region, sum(n), rollup_percentile(0.95, array_agg(bucket), array_agg(n)) AS p95_ms FROM rollups WHERE grain = ''client'' AND metric = ''ttft_client'' AND hour >= now() - interval ''7 days'' GROUP BY region';
COMMENT ON COLUMN rollups.grain IS 'Which dimensions are kept apart; add up lines of one grain only.';
COMMENT ON COLUMN rollups.metric IS 'The duration that is counted; requests counts requests.';
COMMENT ON COLUMN rollups.hour IS 'Hour in UTC in which the requests started.';
COMMENT ON COLUMN rollups.bucket IS 'Bucket of the duration.';
COMMENT ON COLUMN rollups.value_ms IS 'The duration that the bucket stands for, at most 1 % off (milliseconds).';
COMMENT ON COLUMN rollups.n IS 'Requests, to be summed.';
COMMENT ON VIEW rollups_daily IS 'Histograms by day, complete to the last commit. Always sum n: a bucket may have several lines, and negative ones. Example: SELECT region, sum(n), rollup_percentile(0.95, array_agg(bucket), array_agg(n)) AS p95_ms FROM rollups_daily WHERE grain = ''client'' AND metric = ''ttft_client'' AND day >= now() - interval ''7 days'' GROUP BY region';
COMMENT ON COLUMN rollups_daily.grain IS 'Which dimensions are kept apart; add up lines of one grain only.';
COMMENT ON COLUMN rollups_daily.metric IS 'The duration that is counted; requests counts requests.';
COMMENT ON COLUMN rollups_daily.day IS 'Day in UTC on which the requests started.';
COMMENT ON COLUMN rollups_daily.bucket IS 'Bucket of the duration.';
COMMENT ON COLUMN rollups_daily.value_ms IS 'The duration that the bucket stands for, at most 1 % off (milliseconds).';
COMMENT ON COLUMN rollups_daily.n IS 'Requests, to be summed.';
COMMENT ON VIEW rollups_recounted IS 'The rollups by hour, counted anew from the requests that are kept: slow, for checking, best within bounds of received_on. Combinations beyond the cap are told apart here.';
COMMENT ON COLUMN rollups_recounted.received_on IS 'Day of receipt of the requests (requests.day).';
COMMENT ON FUNCTION make_rollup_sums(timestamp with time zone[]) IS 'Makes the sums of these hours anew. The folding process calls it for the hours that it has changed.';
COMMENT ON FUNCTION rollup_percentile(double precision,smallint[],bigint[]) IS 'Nearest-rank percentile in milliseconds, as percentile_disc, at most 1 % off: fraction from 0 to 1, and buckets and counts of any lines of rollups, in any order. Null without requests.';
COMMENT ON FUNCTION rollup_percentiles(double precision[],smallint[],bigint[]) IS 'Several percentiles at once, which costs little more than one; see rollup_percentile.';

GRANT USAGE ON SCHEMA public TO grafana_reader;
GRANT SELECT ON label_values TO grafana_reader;
GRANT SELECT ON request_arrivals TO grafana_reader;
GRANT SELECT ON request_picks TO grafana_reader;
GRANT SELECT ON request_picks_progress TO grafana_reader;
GRANT SELECT ON request_stages TO grafana_reader;
GRANT SELECT ON requests TO grafana_reader;
GRANT SELECT ON rollup_buckets TO grafana_reader;
GRANT SELECT ON rollup_cells TO grafana_reader;
GRANT SELECT ON rollup_days TO grafana_reader;
GRANT SELECT ON rollup_deltas TO grafana_reader;
GRANT SELECT ON rollup_hours TO grafana_reader;
GRANT SELECT ON rollup_progress TO grafana_reader;
GRANT SELECT ON rollup_sums TO grafana_reader;
GRANT SELECT ON rollups TO grafana_reader;
GRANT SELECT ON rollups_daily TO grafana_reader;
GRANT SELECT ON rollups_recounted TO grafana_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO grafana_reader;
