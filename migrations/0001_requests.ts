import { type Kysely, sql } from 'kysely';

/**
 * The row is the join: one row of `requests` per trace, to which each half adds what it knows.
 *
 * Columns are ordered by width (8 bytes, 4, 2, 1, then text), which saves the padding between them. Nothing that a later half sets
 * is indexed, and partitions keep room on their pages (ingest/store/partitions.ts), so that an update stays in its page (HOT) and
 * writes no index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TYPE stream_status AS ENUM ('streaming', 'complete', 'aborted', 'truncated', 'error', 'no_output')`.execute(
    db,
  );
  await sql`CREATE TYPE server_source AS ENUM ('echo', 'direct')`.execute(db);
  await sql`CREATE TYPE token_source AS ENUM ('usage', 'chunks', 'events')`.execute(db);
  await sql`CREATE TYPE device AS ENUM ('desktop', 'mobile', 'tablet', 'tv', 'bot', 'server', 'other')`.execute(db);
  await sql`CREATE TYPE connection AS ENUM ('slow-2g', '2g', '3g', '4g', '5g', 'wifi', 'ethernet', 'offline', 'other')`.execute(
    db,
  );

  await sql`
    CREATE TABLE requests (
      trace_id uuid NOT NULL,
      started_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
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
      flags smallint NOT NULL DEFAULT 0,
      direct_fields smallint NOT NULL DEFAULT 0,
      stamp_count smallint,
      settled boolean NOT NULL DEFAULT false,
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
      PRIMARY KEY (trace_id, day),
      CONSTRAINT stages_not_negative CHECK (
        least(receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns, server_ttft_ns,
              unattributed_ns, gateway_ns, network_ns, render_ns) >= 0),
      CONSTRAINT server_stages_under_an_hour CHECK (
        greatest(receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns) <= 3600000000000),
      CONSTRAINT client_times_within_a_day CHECK (
        least(ttft_ms, ttft_visible_ms, end_ms) >= 0 AND greatest(ttft_ms, ttft_visible_ms, end_ms) <= 86400000),
      CONSTRAINT measures_not_negative CHECK (
        least(tpot_ms, gap_max_ms, gap_mean_ms, gap_stddev_ms, first20_mean_ms, window10_stddev_max_ms, first_screen_ms,
              render_p50_ms, render_max_ms, gateway_request_ms) >= 0),
      CONSTRAINT counts_not_negative CHECK (
        least(seq, output_tokens, prompt_tokens, cached_tokens, prompt_chars, server_output_tokens, batch_size) >= 0),
      CONSTRAINT texts_not_long CHECK (
        greatest(length(model), length(route), length(variant), length(tier), length(backend), length(region), length(carrier),
                 length(quantization), length(decoding), length(trace_ref), length(call_id)) <= 128),
      CONSTRAINT client_half_has_seq CHECK ((status IS NULL) = (seq IS NULL))
    ) PARTITION BY RANGE (day)`.execute(db);

  // Rows arrive in the order of their start, so a block range index finds a time span for a few kilobytes a day.
  await sql`CREATE INDEX requests_started_at ON requests USING brin (started_at) WITH (pages_per_range = 32)`.execute(
    db,
  );

  // The long lists stand apart: in the row they would leave no room on its page for the other half, and every scan would read them.
  await sql`
    CREATE TABLE request_arrivals (
      trace_id uuid NOT NULL,
      day date NOT NULL,
      arrivals_ms real[],
      chunk_tokens smallint[],
      PRIMARY KEY (trace_id, day),
      CONSTRAINT arrivals_not_many CHECK (cardinality(arrivals_ms) <= 4096 AND cardinality(chunk_tokens) <= 4096)
    ) PARTITION BY RANGE (day)`.execute(db);

  await sql`
    CREATE FUNCTION flag_names(flags smallint) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN array_remove(ARRAY[
      CASE WHEN flags & 1 <> 0 THEN 'coalesced' END,
      CASE WHEN flags & 2 <> 0 THEN 'suspended' END,
      CASE WHEN flags & 4 <> 0 THEN 'hidden' END,
      CASE WHEN flags & 8 <> 0 THEN 'first_tokens_unknown' END,
      CASE WHEN flags & 16 <> 0 THEN 'stage_overflow' END,
      CASE WHEN flags & 32 <> 0 THEN 'clock_anomaly' END,
      CASE WHEN flags & 64 <> 0 THEN 'started_at_replaced' END], NULL)`.execute(db);

  await sql`
    CREATE VIEW request_stages AS
    SELECT r.trace_id, r.day, r.started_at, s.stage, s.position, s.duration_ns, s.duration_ns / 1e6::double precision AS duration_ms
    FROM requests r CROSS JOIN LATERAL (VALUES
      ('gateway', 1, r.gateway_ns), ('receive', 2, r.receive_ns), ('preprocess', 3, r.preprocess_ns), ('kv_load', 4, r.kv_load_ns),
      ('queue', 5, r.queue_ns), ('first_token', 6, r.first_token_ns), ('serialize', 7, r.serialize_ns), ('send', 8, r.send_ns),
      ('network', 9, r.network_ns), ('render', 10, r.render_ns), ('unattributed', 11, r.unattributed_ns)
    ) AS s(stage, position, duration_ns)
    WHERE s.duration_ns IS NOT NULL`.execute(db);

  await sql`
    CREATE TABLE label_values (
      label text NOT NULL CHECK (label IN ('model', 'route', 'variant', 'tier', 'backend', 'region')),
      value text NOT NULL CHECK (length(value) BETWEEN 1 AND 128),
      accepted_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (label, value)
    )`.execute(db);

  for (const [object, text] of COMMENTS)
    await sql`${sql.raw(`COMMENT ON ${object} IS '${text.replaceAll("'", "''")}'`)}`.execute(db);

  // The role that dashboards read with: these relations, and not what else may be in the schema. Whoever may not create roles (a managed database) is told how in docs/install.md.
  await sql`
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana_reader') THEN
        CREATE ROLE grafana_reader NOLOGIN;
      END IF;
    EXCEPTION
      WHEN insufficient_privilege THEN RAISE NOTICE 'role grafana_reader was not created: the ingest role lacks CREATEROLE';
      WHEN duplicate_object OR unique_violation THEN NULL;
    END $$`.execute(db);
  await sql`
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana_reader') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO grafana_reader', current_schema());
        GRANT SELECT ON requests, request_arrivals, request_stages, label_values TO grafana_reader;
        EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO grafana_reader', current_schema());
      END IF;
    END $$`.execute(db);
}

const COMMENTS: readonly (readonly [string, string])[] = [
  [
    'TABLE requests',
    'One row per traced request; server, client and gateway halves meet here. Partitioned by day of receipt.',
  ],
  ['COLUMN requests.trace_id', 'Join key: the 32 hex digits of the trace id.'],
  [
    'COLUMN requests.day',
    'UTC day of the database clock when the first half was committed; never changes. Bound it in every query.',
  ],
  ['COLUMN requests.started_at', 'Start of the request, set by the first half; never changes.'],
  ['COLUMN requests.updated_at', 'When the last half was committed.'],
  ['COLUMN requests.receive_ns', 'Stage: the request is uploaded (nanoseconds; outside the server TTFT).'],
  ['COLUMN requests.preprocess_ns', 'Stage: parsing, checking, building and tokenising the prompt (nanoseconds).'],
  ['COLUMN requests.kv_load_ns', 'Stage: until the KV cache is ready (nanoseconds).'],
  ['COLUMN requests.queue_ns', 'Stage: waiting for a slot of the engine (nanoseconds; taken out of first_token).'],
  ['COLUMN requests.first_token_ns', 'Stage: first forward pass (nanoseconds).'],
  ['COLUMN requests.serialize_ns', 'Stage: first token to bytes (nanoseconds).'],
  ['COLUMN requests.send_ns', 'Stage: bytes to the network stack (nanoseconds).'],
  ['COLUMN requests.server_ttft_ns', 'Server time to first token (nanoseconds), between the stamps of ttft_basis.'],
  [
    'COLUMN requests.unattributed_ns',
    'What of the server TTFT (without one: of the client TTFT) no known stage covers (nanoseconds).',
  ],
  ['COLUMN requests.gateway_ns', 'Stage: held by the gateway (nanoseconds).'],
  ['COLUMN requests.network_ns', 'Stage: hidden tax less receive and gateway, at least 0 (nanoseconds).'],
  [
    'COLUMN requests.render_ns',
    'Stage: from the arrival of the first token to its paint (nanoseconds; after the client TTFT).',
  ],
  ['COLUMN requests.ttft_ms', 'Client time to first token, from the fetch call (milliseconds).'],
  ['COLUMN requests.ttft_visible_ms', 'Client time to the first token of visible text (milliseconds).'],
  ['COLUMN requests.end_ms', 'End of the stream, from the fetch call (milliseconds).'],
  ['COLUMN requests.parent_span_id', "The caller's span, as a signed 64-bit number."],
  ['COLUMN requests.seq', "Highest sequence number of the client's beacons; null without a client half."],
  ['COLUMN requests.output_tokens', 'Streamed tokens, as the client counts them.'],
  ['COLUMN requests.prompt_tokens', 'Tokens of the prompt.'],
  ['COLUMN requests.cached_tokens', 'Tokens of the prompt that the prefix cache held.'],
  ['COLUMN requests.prompt_chars', 'Characters of the prompt, as the client counts them.'],
  ['COLUMN requests.server_output_tokens', 'Generated tokens, as the server counts them.'],
  ['COLUMN requests.top_k', 'Sampling: top k.'],
  [
    'COLUMN requests.tpot_ms',
    'Time per output token after the first event (milliseconds); set with the first final beacon.',
  ],
  ['COLUMN requests.gap_max_ms', 'Longest gap between neighbouring token-bearing events (milliseconds).'],
  ['COLUMN requests.gap_mean_ms', 'Mean gap (milliseconds).'],
  ['COLUMN requests.gap_stddev_ms', 'Population standard deviation of the gaps (milliseconds).'],
  ['COLUMN requests.first20_mean_ms', 'Time per output token over the first 20 tokens (milliseconds).'],
  ['COLUMN requests.window10_stddev_max_ms', 'Standard deviation of the worst ten neighbouring gaps (milliseconds).'],
  ['COLUMN requests.first_screen_ms', 'Arrival of output token 50, from the fetch call (milliseconds).'],
  ['COLUMN requests.render_p50_ms', 'Median lag from arrival to paint (milliseconds).'],
  ['COLUMN requests.render_max_ms', 'Longest lag from arrival to paint (milliseconds).'],
  ['COLUMN requests.gateway_request_ms', "The gateway's own time for the whole request (milliseconds)."],
  ['COLUMN requests.temperature', 'Sampling: temperature.'],
  ['COLUMN requests.status', 'How the stream stands, as the client saw it; null without a client half.'],
  ['COLUMN requests.output_tokens_source', 'Where output_tokens comes from.'],
  ['COLUMN requests.device', 'Kind of device of the client.'],
  ['COLUMN requests.connection', 'Kind of network connection of the client.'],
  [
    'COLUMN requests.server_source',
    'Whether the server half was posted by the server or echoed by the client; null without a server half.',
  ],
  ['COLUMN requests.server_status', 'HTTP status, as the server reported it.'],
  ['COLUMN requests.gateway_status', 'HTTP status, as the gateway logged it; set with every gateway half.'],
  ['COLUMN requests.batch_size', "Requests in the engine's batch."],
  ['COLUMN requests.flags', 'Remarks, as bits; flag_names(flags) spells them.'],
  [
    'COLUMN requests.direct_fields',
    'Bits: which of model, route, variant, tier, prompt_tokens a direct server half gave.',
  ],
  ['COLUMN requests.stamp_count', 'Stamps taken of X-Timing-Trace; null without a server half.'],
  ['COLUMN requests.settled', 'Counted for good: later halves update the row, not the counters.'],
  ['COLUMN requests.ttft_basis', 'The stamps between which server_ttft_ns lies, as t1-t6.'],
  ['COLUMN requests.model', "Model; the direct server half's, else the client's."],
  ['COLUMN requests.route', "Route of the application; the direct server half's, else the client's."],
  ['COLUMN requests.variant', "Variant under comparison; the direct server half's, else the client's."],
  ['COLUMN requests.tier', "Tier of the user; the direct server half's, else the client's."],
  ['COLUMN requests.backend', 'Serving host or pod.'],
  ['COLUMN requests.region', 'Region of the client.'],
  ['COLUMN requests.carrier', 'Network operator of the client.'],
  ['COLUMN requests.quantization', 'Quantisation of the model.'],
  ['COLUMN requests.decoding', 'Decoding strategy.'],
  [
    'COLUMN requests.trace_ref',
    'The trace id as it was spelled, where that differs from the key; logs are searched for both.',
  ],
  ['COLUMN requests.call_id', 'Shared by the attempts of one call.'],
  ['COLUMN requests.sub_stages_ns', 'Named pieces of work inside the server (nanoseconds), never added to the sum.'],
  [
    'TABLE request_arrivals',
    'The arrivals of each stream whose client told them; partitioned by day as requests. Written once, rarely again.',
  ],
  ['COLUMN request_arrivals.trace_id', 'Key of the request, as in requests.'],
  ['COLUMN request_arrivals.day', 'Day of the request, as in requests.'],
  ['COLUMN request_arrivals.arrivals_ms', 'Arrivals of token-bearing events, from the fetch call (milliseconds).'],
  ['COLUMN request_arrivals.chunk_tokens', 'Tokens of each arrival; null where the client did not count them.'],
  ['VIEW request_stages', 'One row per request and known stage, in the order of the stages; unattributed last.'],
  ['COLUMN request_stages.duration_ns', 'Duration of the stage, exact (nanoseconds).'],
  ['COLUMN request_stages.duration_ms', 'Duration of the stage (milliseconds).'],
  ['TABLE label_values', 'Accepted values of metric labels, capped, shared by all replicas.'],
  ['COLUMN label_values.label', 'Name of the label.'],
  ['COLUMN label_values.value', "An accepted value; any other counts as 'other'."],
  ['COLUMN label_values.accepted_at', 'When the value was first accepted.'],
];
