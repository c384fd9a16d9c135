import { FLAG_BITS } from '../../contract/flags.ts';
import { attribute } from './attribute.ts';
import type { ClientHalf, GatewayHalf, Half, ServerHalf } from './half.ts';
import { hasGatewayHalf, isFinal, newRow, type RequestRow } from './row.ts';

/** Bits of `direct_fields`: which descriptive fields a direct server half gave, so that no beacon overwrites them. */
export const DIRECT_FIELD_BITS = { model: 1, route: 2, variant: 4, tier: 8, prompt_tokens: 16 } as const;

type SharedField = keyof typeof DIRECT_FIELD_BITS;

/**
 * Adds one half to the row of its request, or makes the row. Who wins, in short: a direct server half over an echoed one; of two
 * direct ones the one with more stamps, else the first; of two beacons the higher `seq`; at equal `seq` a final one over
 * `streaming`, else the first. What a half does not know never erases what is known.
 *
 * @param row changed in place; null makes a new one
 */
export function joinHalf(row: RequestRow | null, half: Half): RequestRow {
  const joined = row ?? newRow({ traceId: half.key, startedAtMs: half.startedAtMs ?? half.receivedAtMs });
  if (row === null && half.startedAtReplaced) joined.flags |= FLAG_BITS.started_at_replaced;
  joined.trace_ref ??= half.ref;
  if (half.kind === 'client') joinClient(joined, half);
  else if (half.kind === 'server') joinServer(joined, half);
  else joinGateway(joined, half);
  attribute(joined);
  return joined;
}

/** Whether everything that will be counted of this request is here. */
export function isComplete(row: RequestRow, expectGateway: boolean): boolean {
  return isFinal(row.status) && row.server_source === 'direct' && (!expectGateway || hasGatewayHalf(row));
}

function joinClient(row: RequestRow, half: ClientHalf): void {
  const newer =
    row.seq === null ||
    half.seq > row.seq ||
    (half.seq === row.seq && row.status === 'streaming' && isFinal(half.status));
  if (!newer) return;

  row.seq = half.seq;
  // A stream that has ended does not go on: a later interim beacon can only be a stray.
  if (!(isFinal(row.status) && half.status === 'streaming')) row.status = half.status;
  row.ttft_ms = half.ttftMs ?? row.ttft_ms;
  row.ttft_visible_ms = half.ttftVisibleMs ?? row.ttft_visible_ms;
  row.end_ms = half.endMs ?? row.end_ms;
  row.output_tokens = half.outputTokens ?? row.output_tokens;
  row.output_tokens_source = half.outputTokensSource ?? row.output_tokens_source;
  row.prompt_chars = half.promptChars ?? row.prompt_chars;
  row.arrivals_ms = half.arrivalsMs ?? row.arrivals_ms;
  row.chunk_tokens = half.chunkTokens ?? row.chunk_tokens;

  const { measures } = half;
  // The tokens of a stream that still runs are not all counted, so it has no TPOT yet.
  if (isFinal(half.status)) row.tpot_ms = measures.tpotMs ?? row.tpot_ms;
  row.gap_max_ms = measures.gapMaxMs ?? row.gap_max_ms;
  row.gap_mean_ms = measures.gapMeanMs ?? row.gap_mean_ms;
  row.gap_stddev_ms = measures.gapStddevMs ?? row.gap_stddev_ms;
  row.first20_mean_ms = measures.first20MeanMs ?? row.first20_mean_ms;
  row.window10_stddev_max_ms = measures.window10StddevMaxMs ?? row.window10_stddev_max_ms;
  row.first_screen_ms = measures.firstScreenMs ?? row.first_screen_ms;

  row.render_p50_ms = half.renderP50Ms ?? row.render_p50_ms;
  row.render_max_ms = half.renderMaxMs ?? row.render_max_ms;
  row.connection_dns_ms = half.connectionDnsMs ?? row.connection_dns_ms;
  row.connection_tcp_ms = half.connectionTcpMs ?? row.connection_tcp_ms;
  row.connection_tls_ms = half.connectionTlsMs ?? row.connection_tls_ms;
  row.connection_wait_ms = half.connectionWaitMs ?? row.connection_wait_ms;
  if (half.renderFirstMs !== null && row.ttft_ms !== null) {
    row.render_ns = Math.max(0, nanoseconds(half.renderFirstMs) - nanoseconds(row.ttft_ms));
  }

  row.flags = (row.flags & ~half.flagMask) | half.flagBits;
  row.region = half.region ?? row.region;
  row.carrier = half.carrier ?? row.carrier;
  row.device = half.device ?? row.device;
  row.connection = half.connection ?? row.connection;
  row.call_id = half.callId ?? row.call_id;
  describe(row, 'model', half.model);
  describe(row, 'route', half.route);
  describe(row, 'variant', half.variant);
  describe(row, 'tier', half.tier);
  describe(row, 'prompt_tokens', half.promptTokens);

  if (half.echo !== null) joinServer(row, half.echo);
}

function joinServer(row: RequestRow, half: ServerHalf): void {
  const direct = half.source === 'direct';
  const outranked = row.server_source === 'direct' && !direct;
  const sameSource = row.server_source === half.source;
  const wins = !outranked && (!sameSource || half.stampCount > (row.stamp_count ?? 0));
  if (wins) setTimes(row, half);
  // Shown, never added up: so they may come from another half than the times, whichever of the two came first.
  else row.sub_stages_ns ??= half.subStagesNs;
  if (direct) describeServer(row, half, wins);
}

/** One request has one line in the log; of a second one only what the first did not know is taken. */
function joinGateway(row: RequestRow, half: GatewayHalf): void {
  row.gateway_ns ??= half.gatewayNs;
  row.gateway_request_ms ??= half.requestMs;
  row.gateway_status ??= half.status;
}

/** The times of one server half belong together: they replace what was there as a whole. */
function setTimes(row: RequestRow, half: ServerHalf): void {
  row.server_source = half.source;
  row.stamp_count = half.stampCount;
  row.server_ttft_ns = half.ttftNs;
  row.ttft_basis = half.ttftBasis;
  row.receive_ns = half.stagesNs.receive;
  row.preprocess_ns = half.stagesNs.preprocess;
  row.kv_load_ns = half.stagesNs.kv_load;
  row.queue_ns = half.stagesNs.queue;
  row.first_token_ns = half.stagesNs.first_token;
  row.serialize_ns = half.stagesNs.serialize;
  row.send_ns = half.stagesNs.send;
  row.sub_stages_ns = half.subStagesNs ?? row.sub_stages_ns;
  row.flags = half.stageOverflow ? row.flags | FLAG_BITS.stage_overflow : row.flags & ~FLAG_BITS.stage_overflow;
}

/** A direct half that does not win still fills what nobody has said. */
function describeServer(row: RequestRow, half: ServerHalf, wins: boolean): void {
  const choose = <T>(own: T | null, theirs: T | null): T | null => (wins ? (theirs ?? own) : (own ?? theirs));
  describeDirect(row, 'model', half.model, wins);
  describeDirect(row, 'route', half.route, wins);
  describeDirect(row, 'variant', half.variant, wins);
  describeDirect(row, 'tier', half.tier, wins);
  describeDirect(row, 'prompt_tokens', half.promptTokens, wins);
  row.backend = choose(row.backend, half.backend);
  row.cached_tokens = choose(row.cached_tokens, half.cachedTokens);
  row.server_output_tokens = choose(row.server_output_tokens, half.outputTokens);
  row.quantization = choose(row.quantization, half.quantization);
  row.decoding = choose(row.decoding, half.decoding);
  row.temperature = choose(row.temperature, half.temperature);
  row.top_k = choose(row.top_k, half.topK);
  row.batch_size = choose(row.batch_size, half.batchSize);
  row.server_status = choose(row.server_status, half.status);
  row.parent_span_id = choose(row.parent_span_id, half.parentSpanId);
}

function describe<F extends SharedField>(row: RequestRow, field: F, value: RequestRow[F]): void {
  if (value !== null && (row.direct_fields & DIRECT_FIELD_BITS[field]) === 0) row[field] = value;
}

function describeDirect<F extends SharedField>(row: RequestRow, field: F, value: RequestRow[F], wins: boolean): void {
  const given = (row.direct_fields & DIRECT_FIELD_BITS[field]) !== 0;
  if (value === null || (given && !wins)) return;
  row[field] = value;
  row.direct_fields |= DIRECT_FIELD_BITS[field];
}

function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}
