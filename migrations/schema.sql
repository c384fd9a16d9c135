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

CREATE TABLE label_values (
  label text NOT NULL,
  value text NOT NULL,
  accepted_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT label_values_pkey PRIMARY KEY (label, value),
  CONSTRAINT label_values_label_check CHECK (label = ANY (ARRAY['model'::text, 'route'::text, 'variant'::text, 'tier'::text, 'backend'::text, 'region'::text])),
  CONSTRAINT label_values_value_check CHECK (length(value) >= 1 AND length(value) <= 128)
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
  chunk_tokens smallint[],
  arrivals_ms real[],
  CONSTRAINT requests_pkey PRIMARY KEY (trace_id, day),
  CONSTRAINT arrivals_not_many CHECK (cardinality(arrivals_ms) <= 4096 AND cardinality(chunk_tokens) <= 4096),
  CONSTRAINT client_half_has_seq CHECK ((status IS NULL) = (seq IS NULL)),
  CONSTRAINT client_times_within_a_day CHECK (LEAST(ttft_ms, ttft_visible_ms, end_ms) >= 0::double precision AND GREATEST(ttft_ms, ttft_visible_ms, end_ms) <= 86400000::double precision),
  CONSTRAINT counts_not_negative CHECK (LEAST(seq, output_tokens, prompt_tokens, cached_tokens, prompt_chars, server_output_tokens, batch_size::integer) >= 0),
  CONSTRAINT measures_not_negative CHECK (LEAST(tpot_ms, gap_max_ms, gap_mean_ms, gap_stddev_ms, first20_mean_ms, window10_stddev_max_ms, first_screen_ms, render_p50_ms, render_max_ms, gateway_request_ms) >= 0::double precision),
  CONSTRAINT server_stages_under_an_hour CHECK (GREATEST(receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns) <= '3600000000000'::bigint),
  CONSTRAINT stages_not_negative CHECK (LEAST(receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns, server_ttft_ns, unattributed_ns, gateway_ns, network_ns, render_ns) >= 0),
  CONSTRAINT texts_not_long CHECK (GREATEST(length(model), length(route), length(variant), length(tier), length(backend), length(region), length(carrier), length(quantization), length(decoding), length(trace_ref), length(call_id)) <= 128)
) PARTITION BY RANGE (day);

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

COMMENT ON TABLE label_values IS 'Accepted values of metric labels, capped, shared by all replicas.';
COMMENT ON COLUMN label_values.label IS 'Name of the label.';
COMMENT ON COLUMN label_values.value IS 'An accepted value; any other counts as ''other''.';
COMMENT ON COLUMN label_values.accepted_at IS 'When the value was first accepted.';
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
COMMENT ON COLUMN requests.chunk_tokens IS 'Tokens of each arrival.';
COMMENT ON COLUMN requests.arrivals_ms IS 'Arrivals of token-bearing events, from the fetch call (milliseconds).';

GRANT USAGE ON SCHEMA public TO grafana_reader;
GRANT SELECT ON label_values TO grafana_reader;
GRANT SELECT ON request_stages TO grafana_reader;
GRANT SELECT ON requests TO grafana_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO grafana_reader;
