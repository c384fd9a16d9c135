import {
  MAX_SERVER_TIMING_LENGTH,
  MAX_STAGE_NS,
  MAX_SUB_STAGE_NAME,
  MAX_SUB_STAGES,
  MAX_TEXT_LENGTH,
  MAX_TOKENS,
  MAX_TRACE_ID_LENGTH,
} from './limits.ts';

/**
 * The server's half of a request, posted when the response has finished. `trace_id` and one of `timing_trace` and
 * `server_timing` are required; optional fields may also be null, which means the same as absent; unknown fields are ignored.
 */
export interface ServerRecord {
  readonly trace_id: string;
  readonly trace_id_format?: 'default' | 'datadog' | null;
  /** As the header: seven nanosecond stamps of one monotonic clock, comma-separated (or a list of seven strings). */
  readonly timing_trace?: string | readonly (string | number)[] | null;
  readonly server_timing?: string | null;
  /** RFC 3339. */
  readonly started_at?: string | null;
  readonly model?: string | null;
  readonly route?: string | null;
  readonly variant?: string | null;
  readonly tier?: string | null;
  /** The serving host or pod. */
  readonly backend?: string | null;
  readonly prompt_tokens?: number | null;
  readonly cached_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly quantization?: string | null;
  readonly decoding?: string | null;
  readonly temperature?: number | null;
  readonly top_k?: number | null;
  readonly batch_size?: number | null;
  /** Named pieces of work inside the server, nanoseconds. */
  readonly sub_stages?: Readonly<Record<string, number>> | null;
  /** HTTP status of the response. */
  readonly status?: number | null;
  /** The caller's span: 16 lower-case hex digits, not all zero. */
  readonly parent_span_id?: string | null;
}

const tokens = { type: ['integer', 'null'], minimum: 0, maximum: MAX_TOKENS } as const;
const text = { type: ['string', 'null'], minLength: 1, maxLength: MAX_TEXT_LENGTH } as const;

/** JSON Schema of {@link ServerRecord}. */
export const SERVER_RECORD_SCHEMA = {
  $id: 'server-record',
  type: 'object',
  required: ['trace_id'],
  properties: {
    trace_id: { type: 'string', maxLength: MAX_TRACE_ID_LENGTH },
    trace_id_format: { enum: ['default', 'datadog', null] },
    timing_trace: {
      type: ['string', 'array', 'null'],
      maxLength: 256,
      maxItems: 7,
      items: { type: ['string', 'number'] },
    },
    server_timing: { type: ['string', 'null'], maxLength: MAX_SERVER_TIMING_LENGTH },
    started_at: { type: ['string', 'null'], maxLength: 40 },
    model: text,
    route: text,
    variant: text,
    tier: text,
    backend: text,
    prompt_tokens: tokens,
    cached_tokens: tokens,
    output_tokens: tokens,
    quantization: text,
    decoding: text,
    temperature: { type: ['number', 'null'], minimum: 0, maximum: 1_000 },
    top_k: { type: ['integer', 'null'], minimum: -1, maximum: 1_000_000_000 },
    batch_size: { type: ['integer', 'null'], minimum: 0, maximum: 32_767 },
    sub_stages: {
      type: ['object', 'null'],
      maxProperties: MAX_SUB_STAGES,
      propertyNames: { minLength: 1, maxLength: MAX_SUB_STAGE_NAME },
      additionalProperties: { type: 'integer', minimum: 0, maximum: MAX_STAGE_NS },
    },
    status: { type: ['integer', 'null'], minimum: 100, maximum: 599 },
    parent_span_id: { type: ['string', 'null'], pattern: '^(?!0{16})[0-9a-f]{16}$' },
  },
} as const;
