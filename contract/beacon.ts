import {
  MAX_ARRIVALS,
  MAX_OFFSET_MS,
  MAX_SERVER_TIMING_LENGTH,
  MAX_TEXT_LENGTH,
  MAX_TOKENS,
  MAX_TRACE_ID_LENGTH,
} from './limits.ts';

/** The version of the beacon format that `v` names. */
export const BEACON_VERSION = 1;

/**
 * How a stream stands. `streaming` is interim (the page went hidden); all others are final: `complete`, `aborted` by the user
 * or page, `truncated` (ended without a terminator), `error`, `no_output` (ended well, without a token).
 */
export const STREAM_STATUSES = ['streaming', 'complete', 'aborted', 'truncated', 'error', 'no_output'] as const;
export type StreamStatus = (typeof STREAM_STATUSES)[number];

/** A closed list, so that outsiders cannot mint label values. */
export const DEVICES = ['desktop', 'mobile', 'tablet', 'tv', 'bot', 'server', 'other'] as const;
export type Device = (typeof DEVICES)[number];

/** Network types as `navigator.connection` names them, and `ethernet`/`wifi` where a client knows. */
export const CONNECTIONS = ['slow-2g', '2g', '3g', '4g', '5g', 'wifi', 'ethernet', 'offline', 'other'] as const;
export type Connection = (typeof CONNECTIONS)[number];

/** Where `output_tokens` comes from: the engine's usage, the tokens of the chunks, or a count of events. */
export const TOKEN_SOURCES = ['usage', 'chunks', 'events'] as const;
export type TokenSource = (typeof TOKEN_SOURCES)[number];

/** What a stream of more than {@link MAX_ARRIVALS} events sends in place of its arrivals. Milliseconds. */
export interface GapStats {
  readonly count: number;
  readonly mean_ms?: number | null;
  readonly stddev_ms?: number | null;
  readonly max_ms?: number | null;
  readonly first20_mean_ms?: number | null;
  readonly window10_stddev_max_ms?: number | null;
  readonly first_screen_ms?: number | null;
  readonly last_token_ms?: number | null;
  readonly first_tokens?: number | null;
}

/**
 * The client's half of a request. Times are milliseconds from the `fetch` call on one monotonic clock. Optional fields may also
 * be null, which means the same as absent. Unknown fields are ignored.
 */
export interface Beacon {
  readonly v: number;
  readonly trace_id: string;
  readonly trace_id_format?: 'default' | 'datadog' | null;
  readonly status: StreamStatus;
  /** Rises with each beacon of one trace; the highest wins. Absent is 0. */
  readonly seq?: number | null;
  /** From the `fetch` call to this beacon; the server dates the request by it. */
  readonly since_start_ms?: number | null;
  readonly ttft_ms?: number | null;
  readonly ttft_visible_ms?: number | null;
  readonly end_ms?: number | null;
  readonly arrivals_ms?: readonly number[] | null;
  /** Tokens of each arrival. */
  readonly chunk_tokens?: readonly number[] | null;
  readonly gap_stats?: GapStats | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_source?: TokenSource | null;
  readonly coalesced?: boolean | null;
  readonly suspended?: boolean | null;
  readonly hidden?: boolean | null;
  /** `first_ms`: offset at which the first token was painted; `p50_ms`, `max_ms`: lag from arrival to paint. */
  readonly render?: {
    readonly first_ms?: number | null;
    readonly p50_ms?: number | null;
    readonly max_ms?: number | null;
  } | null;
  /** How the connection was made, by the browser's own account: 0 where one was there already. `wait`: first byte of the request to first of the answer's head. */
  readonly connection_ms?: {
    readonly dns?: number | null;
    readonly tcp?: number | null;
    readonly tls?: number | null;
    readonly wait?: number | null;
  } | null;
  readonly timing_trace?: string | readonly (string | number)[] | null;
  readonly server_timing?: string | null;
  readonly model?: string | null;
  readonly route?: string | null;
  readonly variant?: string | null;
  readonly tier?: string | null;
  readonly prompt_tokens?: number | null;
  readonly prompt_chars?: number | null;
  readonly region?: string | null;
  readonly carrier?: string | null;
  /** One of {@link DEVICES}; any other word counts as `other`. */
  readonly device?: string | null;
  /** One of {@link CONNECTIONS}; any other word counts as `other`. */
  readonly connection?: string | null;
  /** Shared by the attempts of one call; each attempt has its own trace id. */
  readonly call_id?: string | null;
}

const offset = { type: ['number', 'null'], minimum: 0, maximum: MAX_OFFSET_MS } as const;
const tokens = { type: ['integer', 'null'], minimum: 0, maximum: MAX_TOKENS } as const;
const text = { type: ['string', 'null'], minLength: 1, maxLength: MAX_TEXT_LENGTH } as const;
const flag = { type: ['boolean', 'null'] } as const;

/** JSON Schema of {@link Beacon}; what it cannot say (offsets that fall, lists of unequal length) the validator checks. */
export const BEACON_SCHEMA = {
  $id: 'beacon',
  type: 'object',
  required: ['v', 'trace_id', 'status'],
  properties: {
    v: { type: 'integer' },
    trace_id: { type: 'string', maxLength: MAX_TRACE_ID_LENGTH },
    trace_id_format: { enum: ['default', 'datadog', null] },
    status: { enum: STREAM_STATUSES },
    seq: { type: ['integer', 'null'], minimum: 0, maximum: 1_000_000_000 },
    since_start_ms: offset,
    ttft_ms: offset,
    ttft_visible_ms: offset,
    end_ms: offset,
    arrivals_ms: {
      type: ['array', 'null'],
      maxItems: MAX_ARRIVALS,
      items: { type: 'number', minimum: 0, maximum: MAX_OFFSET_MS },
    },
    chunk_tokens: {
      type: ['array', 'null'],
      maxItems: MAX_ARRIVALS,
      items: { type: 'integer', minimum: 0, maximum: 32_767 },
    },
    gap_stats: {
      type: ['object', 'null'],
      required: ['count'],
      properties: {
        count: tokens,
        mean_ms: offset,
        stddev_ms: offset,
        max_ms: offset,
        first20_mean_ms: offset,
        window10_stddev_max_ms: offset,
        first_screen_ms: offset,
        last_token_ms: offset,
        first_tokens: tokens,
      },
    },
    output_tokens: tokens,
    output_tokens_source: { enum: [...TOKEN_SOURCES, null] },
    coalesced: flag,
    suspended: flag,
    hidden: flag,
    render: {
      type: ['object', 'null'],
      properties: { first_ms: offset, p50_ms: offset, max_ms: offset },
    },
    connection_ms: {
      type: ['object', 'null'],
      properties: { dns: offset, tcp: offset, tls: offset, wait: offset },
    },
    timing_trace: {
      type: ['string', 'array', 'null'],
      maxLength: 256,
      maxItems: 7,
      items: { type: ['string', 'number'] },
    },
    server_timing: { type: ['string', 'null'], maxLength: MAX_SERVER_TIMING_LENGTH },
    model: text,
    route: text,
    variant: text,
    tier: text,
    prompt_tokens: tokens,
    prompt_chars: tokens,
    region: text,
    carrier: text,
    device: text,
    connection: text,
    call_id: text,
  },
} as const;
