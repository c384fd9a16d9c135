import { STAGES, type Stage } from './stages.ts';

/** Stages as a trace shows them: in their order, and last what of the server's TTFT none of them covers. */
export const SPAN_STAGES = [...STAGES, 'unattributed'] as const;
export type SpanStage = Stage | 'unattributed';

/** Takes a stage's place where the span id of a request's root is made. */
export const ROOT_SPAN = 'root';

/**
 * Attributes of a request's spans. Where OpenTelemetry's GenAI conventions have a name it is theirs, in their unit (seconds); what
 * they do not know stands under `firsttoken.`.
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
 */
export const SPAN_ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  model: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  temperature: 'gen_ai.request.temperature',
  topK: 'gen_ai.request.top_k',
  inputTokens: 'gen_ai.usage.input_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  /** Client TTFT, seconds. */
  clientTtft: 'gen_ai.response.time_to_first_chunk',
  /** Server TTFT, seconds. The conventions have this name as a metric's; no attribute of theirs says the same. */
  serverTtft: 'gen_ai.server.time_to_first_token',
  serverAddress: 'server.address',
  route: 'http.route',
  httpStatus: 'http.response.status_code',
  errorType: 'error.type',

  stage: 'firsttoken.stage',
  /** `inferred`: the length was measured, where it lies was not. */
  placement: 'placement',
  /** The end was before the start, or the part below zero: shown with no length. The row keeps what was reported. */
  clamped: 'firsttoken.clamped',
  /** Whose account the root span's length is: `client`, `server` or `gateway`. */
  view: 'firsttoken.view',
  status: 'firsttoken.status',
  flags: 'firsttoken.flags',
  joined: 'firsttoken.joined',
  serverSource: 'firsttoken.server.source',
  ttftBasis: 'firsttoken.ttft_basis',
  ttftVisible: 'firsttoken.ttft_visible_ms',
  tpot: 'firsttoken.tpot_ms',
  gapMax: 'firsttoken.gap_max_ms',
  variant: 'firsttoken.variant',
  tier: 'firsttoken.tier',
  region: 'firsttoken.region',
  carrier: 'firsttoken.carrier',
  device: 'firsttoken.device',
  connection: 'firsttoken.connection',
  quantization: 'firsttoken.quantization',
  decoding: 'firsttoken.decoding',
  batchSize: 'firsttoken.batch_size',
  callId: 'firsttoken.call_id',
  traceRef: 'firsttoken.trace_ref',
  /** Followed by the sub-stage's name; nanoseconds. */
  subStagePrefix: 'firsttoken.sub_stage_ns.',
} as const;

export const PLACEMENT_INFERRED = 'inferred';
/** The kind of work, as the conventions name it. */
export const SPAN_OPERATION = 'chat';
/** `service.name` of the requests' spans, and of those of the ingest's own work. */
export const REQUESTS_SERVICE = 'firsttoken';
export const INGEST_SERVICE = 'firsttoken-ingest';

/** Events of the root span. */
export const FIRST_TOKEN_EVENT = 'first_token';
export const FIRST_VISIBLE_TOKEN_EVENT = 'first_visible_token';
