import type { Connection, Device, StreamStatus, TokenSource } from './beacon.ts';
import type { Flag } from './flags.ts';
import type { Rejection } from './rejections.ts';
import type { Stage } from './stages.ts';

/** What `GET /v1/requests/:trace_id` answers: the joined row. A half that has not come is null. */
export interface RequestAnswer {
  readonly trace_id: string;
  /** The id as it was spelled, where that differs from the key. */
  readonly trace_ref: string | null;
  readonly started_at: string;
  /** A client half and a server half of any source are there. */
  readonly joined: boolean;
  readonly status: StreamStatus | null;
  readonly flags: readonly Flag[];
  readonly stages_ns: Readonly<Record<Stage | 'unattributed', number | null>>;
  readonly sub_stages_ns: Readonly<Record<string, number>>;
  readonly server: {
    readonly ttft_ns: number | null;
    readonly ttft_basis: string | null;
    readonly source: 'direct' | 'echo';
    readonly model: string | null;
    readonly route: string | null;
    readonly variant: string | null;
    readonly tier: string | null;
    readonly backend: string | null;
    readonly prompt_tokens: number | null;
    readonly cached_tokens: number | null;
    readonly output_tokens: number | null;
    readonly quantization: string | null;
    readonly decoding: string | null;
    readonly temperature: number | null;
    readonly top_k: number | null;
    readonly batch_size: number | null;
    readonly status: number | null;
  } | null;
  readonly client: {
    readonly seq: number;
    readonly ttft_ms: number | null;
    readonly ttft_visible_ms: number | null;
    readonly end_ms: number | null;
    readonly tpot_ms: number | null;
    readonly output_tokens: number | null;
    readonly output_tokens_source: TokenSource | null;
    readonly gap_max_ms: number | null;
    readonly gap_stddev_ms: number | null;
    readonly first20_mean_ms: number | null;
    readonly window10_stddev_max_ms: number | null;
    readonly first_screen_ms: number | null;
    readonly render_p50_ms: number | null;
    readonly render_max_ms: number | null;
    readonly prompt_chars: number | null;
    readonly region: string | null;
    readonly carrier: string | null;
    readonly device: Device | null;
    readonly connection: Connection | null;
    /** Null where the browser told nothing. */
    readonly connection_ms: {
      readonly dns: number | null;
      readonly tcp: number | null;
      readonly tls: number | null;
      readonly wait: number | null;
    } | null;
    readonly call_id: string | null;
    readonly arrivals_ms: readonly number[] | null;
    readonly chunk_tokens: readonly number[] | null;
  } | null;
  readonly gateway: {
    readonly gateway_ns: number | null;
    readonly request_time_ms: number | null;
    readonly status: number | null;
  } | null;
}

/** A refused event of a batch: its position, and why. */
export interface RejectedEvent extends Rejection {
  readonly index: number;
}

/** 202: what was taken is durable. */
export interface AcceptedAnswer {
  readonly accepted: number;
  readonly rejected: readonly RejectedEvent[];
}

/** 4xx and 5xx: nothing was taken. */
export interface ErrorAnswer {
  readonly error: Rejection;
  readonly rejected?: readonly RejectedEvent[];
}
