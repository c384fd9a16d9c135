import type { Connection, Device, StreamStatus, TokenSource } from '../../contract/beacon.ts';

/**
 * One row of `requests`, in which the halves meet. Field names are the columns' names; what they mean and in which unit stands
 * as a comment on each column (migrations/schema.sql). Times of day are epoch milliseconds here.
 */
export interface RequestRow {
  readonly trace_id: string;
  /** UTC date as `YYYY-MM-DD`; empty until the store has set it. */
  readonly day: string;
  readonly started_at: number;
  receive_ns: number | null;
  preprocess_ns: number | null;
  kv_load_ns: number | null;
  queue_ns: number | null;
  first_token_ns: number | null;
  serialize_ns: number | null;
  send_ns: number | null;
  server_ttft_ns: number | null;
  unattributed_ns: number | null;
  gateway_ns: number | null;
  network_ns: number | null;
  render_ns: number | null;
  ttft_ms: number | null;
  ttft_visible_ms: number | null;
  end_ms: number | null;
  /** 16 hex digits. */
  parent_span_id: string | null;
  seq: number | null;
  output_tokens: number | null;
  prompt_tokens: number | null;
  cached_tokens: number | null;
  prompt_chars: number | null;
  server_output_tokens: number | null;
  top_k: number | null;
  tpot_ms: number | null;
  gap_max_ms: number | null;
  gap_mean_ms: number | null;
  gap_stddev_ms: number | null;
  first20_mean_ms: number | null;
  window10_stddev_max_ms: number | null;
  first_screen_ms: number | null;
  render_p50_ms: number | null;
  render_max_ms: number | null;
  connection_dns_ms: number | null;
  connection_tcp_ms: number | null;
  connection_tls_ms: number | null;
  connection_wait_ms: number | null;
  gateway_request_ms: number | null;
  temperature: number | null;
  status: StreamStatus | null;
  output_tokens_source: TokenSource | null;
  device: Device | null;
  connection: Connection | null;
  server_source: 'echo' | 'direct' | null;
  server_status: number | null;
  gateway_status: number | null;
  batch_size: number | null;
  flags: number;
  direct_fields: number;
  stamp_count: number | null;
  settled: boolean;
  ttft_basis: string | null;
  model: string | null;
  route: string | null;
  variant: string | null;
  tier: string | null;
  backend: string | null;
  region: string | null;
  carrier: string | null;
  quantization: string | null;
  decoding: string | null;
  trace_ref: string | null;
  call_id: string | null;
  sub_stages_ns: Readonly<Record<string, number>> | null;
  /** Null in a row that was read for joining: the lists are long, and only written. */
  chunk_tokens: readonly number[] | null;
  arrivals_ms: readonly number[] | null;
}

/** Fields that the first half sets for good. */
export interface RowIdentity {
  readonly traceId: string;
  readonly startedAtMs: number;
}

/**
 * A row that knows nothing yet. All fields are there from the start, so that all rows share one shape. The start is cut to whole
 * milliseconds, which pass through the database unchanged: the hour in which a request counts must not depend on who looks.
 */
export function newRow(identity: RowIdentity): RequestRow {
  return {
    trace_id: identity.traceId,
    day: '',
    started_at: Math.floor(identity.startedAtMs),
    receive_ns: null,
    preprocess_ns: null,
    kv_load_ns: null,
    queue_ns: null,
    first_token_ns: null,
    serialize_ns: null,
    send_ns: null,
    server_ttft_ns: null,
    unattributed_ns: null,
    gateway_ns: null,
    network_ns: null,
    render_ns: null,
    ttft_ms: null,
    ttft_visible_ms: null,
    end_ms: null,
    parent_span_id: null,
    seq: null,
    output_tokens: null,
    prompt_tokens: null,
    cached_tokens: null,
    prompt_chars: null,
    server_output_tokens: null,
    top_k: null,
    tpot_ms: null,
    gap_max_ms: null,
    gap_mean_ms: null,
    gap_stddev_ms: null,
    first20_mean_ms: null,
    window10_stddev_max_ms: null,
    first_screen_ms: null,
    render_p50_ms: null,
    render_max_ms: null,
    connection_dns_ms: null,
    connection_tcp_ms: null,
    connection_tls_ms: null,
    connection_wait_ms: null,
    gateway_request_ms: null,
    temperature: null,
    status: null,
    output_tokens_source: null,
    device: null,
    connection: null,
    server_source: null,
    server_status: null,
    gateway_status: null,
    batch_size: null,
    flags: 0,
    direct_fields: 0,
    stamp_count: null,
    settled: false,
    ttft_basis: null,
    model: null,
    route: null,
    variant: null,
    tier: null,
    backend: null,
    region: null,
    carrier: null,
    quantization: null,
    decoding: null,
    trace_ref: null,
    call_id: null,
    sub_stages_ns: null,
    chunk_tokens: null,
    arrivals_ms: null,
  };
}

export function hasClientHalf(row: RequestRow): boolean {
  return row.status !== null;
}

export function hasServerHalf(row: RequestRow): boolean {
  return row.server_source !== null;
}

export function hasGatewayHalf(row: RequestRow): boolean {
  return row.gateway_status !== null;
}

export function isJoined(row: RequestRow): boolean {
  return hasClientHalf(row) && hasServerHalf(row);
}

/** `streaming` is interim; every other status is the stream's last word. */
export function isFinal(status: StreamStatus | null): boolean {
  return status !== null && status !== 'streaming';
}
