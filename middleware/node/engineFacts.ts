import { MAX_SERVER_TIMING_LENGTH, MAX_STAGE_NS, MAX_TOKENS } from '../../contract/limits.ts';
import { parseServerTiming } from '../../contract/serverTiming.ts';
import { type ServerStage, STAGE_ALIASES } from '../../contract/stages.ts';
import type { TokenUsage } from '../../contract/tokens.ts';

/** What an inference engine reported of one request. A time that it did not report is absent. Milliseconds. */
export interface EngineFacts {
  /** Waiting in the engine's scheduler. */
  readonly queueMs?: number;
  /** From being scheduled to the first token: the prefill. */
  readonly prefillMs?: number;
  readonly usage?: TokenUsage;
}

/** Untrusted JSON. Each step through it is written `?.`, which is undefined, never a crash, on whatever stands there. */
type Json = { readonly [key: string]: Json } | null | undefined;

const SPEAKS_OF_ITSELF = /"(?:metrics|meta_info)"\s*:\s*\{/;

/** Whether a text of JSON may hold an engine's own facts. Inside a string the quotes would be escaped. */
export const mayHoldEngineFacts = (json: string): boolean => SPEAKS_OF_ITSELF.test(json);

/**
 * Reads the facts from the JSON of an event or of a whole answer. Forms known:
 *
 * - `metrics` of vLLM started with `--enable-per-request-metrics`, in milliseconds: in the last chunk, that of the usage, of a
 *   completion, or in the response of `response.completed`. Its `time_to_first_token_ms` begins when the request is scheduled.
 *   https://docs.vllm.ai/en/latest/features/per_request_metrics/
 * - `metrics` as vLLM's engine gives them to Python, for servers of one's own that pass them on, in seconds: `RequestMetrics` of
 *   the V0 engine, `RequestStateStats` of the V1 engine.
 * - `meta_info` of SGLang's `/generate`, or of a choice where the request asked for it, in seconds; the times are there when it was
 *   started with `--enable-metrics`. Its `prefill_launch_latency` can end before the GPU has, so the time of the finished prefill,
 *   where a version reports it, comes before it.
 */
export function readEngineFacts(json: string): EngineFacts {
  const body: Json = parse(json);
  const metrics = body?.metrics ?? body?.response?.metrics;
  if (metrics) return fromVllm(metrics);
  const choices: unknown = body?.choices;
  const choice: Json = Array.isArray(choices) ? choices[0] : undefined;
  const metaInfo = body?.meta_info ?? choice?.meta_info;
  return metaInfo ? fromSglang(metaInfo) : {};
}

function fromVllm(metrics: Json): EngineFacts {
  const queueMs =
    time(metrics?.queue_time_ms, 1) ??
    time(metrics?.time_in_queue, 1_000) ??
    between(metrics?.arrival_time, metrics?.first_scheduled_time) ??
    between(metrics?.queued_ts, metrics?.scheduled_ts);
  const prefillMs =
    time(metrics?.time_to_first_token_ms, 1) ??
    between(metrics?.first_scheduled_time, metrics?.first_token_time) ??
    between(metrics?.scheduled_ts, metrics?.first_token_ts);
  return facts(queueMs, prefillMs);
}

function fromSglang(metaInfo: Json): EngineFacts {
  const waiting = time(metaInfo?.prefill_waiting_latency ?? metaInfo?.prefill_launch_delay, 1_000);
  const launch = time(metaInfo?.prefill_launch_latency, 1_000);
  const prefillMs =
    between(metaInfo?.forward_entry_time, metaInfo?.prefill_finished_time) ??
    (launch === undefined ? undefined : (waiting ?? 0) + launch);
  const outputTokens = count(metaInfo?.completion_tokens);
  const promptTokens = count(metaInfo?.prompt_tokens);
  const cachedTokens = count(metaInfo?.cached_tokens);
  return {
    ...facts(time(metaInfo?.queue_time, 1_000), prefillMs),
    usage: {
      ...(outputTokens !== undefined && { outputTokens }),
      ...(promptTokens !== undefined && { promptTokens }),
      ...(cachedTokens !== undefined && { cachedTokens }),
    },
  };
}

/**
 * The facts as entries of a `Server-Timing` value, behind those that the app has described itself: where it names a stage, its own
 * counts. `first_token` begins when the KV cache is ready, so it holds the queue, which the ingest takes out again.
 */
export function withEngineFacts(
  described: string | undefined,
  { queueMs, prefillMs }: EngineFacts,
): string | undefined {
  if (queueMs === undefined && prefillMs === undefined) return described;
  const named = new Set(parseServerTiming(described ?? '').map(({ name }) => STAGE_ALIASES.get(name.toLowerCase())));
  const entry = (stage: ServerStage, ms: number | undefined): string[] =>
    ms === undefined || named.has(stage) ? [] : [`${stage};dur=${Number(ms.toFixed(3))}`];
  const firstTokenMs = prefillMs === undefined ? undefined : (queueMs ?? 0) + prefillMs;
  const entries = [...entry('queue', queueMs), ...entry('first_token', firstTokenMs)];
  const all = [...(described ? [described] : []), ...entries].join(', ');
  return all.length > MAX_SERVER_TIMING_LENGTH ? described : all;
}

function parse(json: string): Json {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const facts = (queueMs: number | undefined, prefillMs: number | undefined): EngineFacts => ({
  ...(queueMs !== undefined && { queueMs }),
  ...(prefillMs !== undefined && { prefillMs }),
});

const time = (value: unknown, unitMs: number): number | undefined =>
  typeof value === 'number' && value >= 0 && value * unitMs <= MAX_STAGE_NS / 1e6 ? value * unitMs : undefined;

/** Of two readings of one clock in seconds; engines write 0 for one not taken. */
const between = (start: unknown, end: unknown): number | undefined =>
  typeof start === 'number' && typeof end === 'number' && start > 0 && end > 0 ? time(end - start, 1_000) : undefined;

const count = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS ? (value as number) : undefined;
