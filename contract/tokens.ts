import { MAX_TOKENS } from './limits.ts';
import type { SseEvent } from './sse.ts';

/** Token counts that an engine reported. A count that it did not report is absent, so that later reports can be spread over. */
export interface TokenUsage {
  /** All generated tokens, those of the reasoning included. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  /** All tokens of the prompt, cached ones included. */
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
}

/** What one event of a stream says. */
export interface TokenFacts {
  /** It bears at least one generated token: text, reasoning, or a tool call's name or arguments. */
  readonly token: boolean;
  /** It bears text for the user. Implies `token`. */
  readonly visible: boolean;
  /** It bears reasoning. Implies `token`; without any such event, reasoning tokens were not streamed. */
  readonly reasoning: boolean;
  /** The answer ended properly: a finish reason or an end marker. Usage and a marker may still follow. */
  readonly terminator: boolean;
  /** Nothing follows, though the connection may stay open: `[DONE]`, `message_stop`, `response.completed`. */
  readonly last: boolean;
  readonly error: boolean;
  /** Tokens of this event, where they are known. */
  readonly tokenCount?: number;
  readonly usage?: TokenUsage;
}

/** Reads one event. Never throws: what it cannot read bears no token. */
export type TokenPreset = (event: SseEvent) => TokenFacts;

/** The name of the event that carries the server's own facts to an `EventSource`; never part of the answer. */
export const FIRSTTOKEN_EVENT = 'firsttoken';

/** The facts of an event that says nothing. */
export const NO_FACTS: TokenFacts = Object.freeze({
  token: false,
  visible: false,
  reasoning: false,
  terminator: false,
  last: false,
  error: false,
});

/* @__NO_SIDE_EFFECTS__ */
function factsOf(said: Partial<TokenFacts>): TokenFacts {
  return Object.freeze({ ...NO_FACTS, ...said });
}

const VISIBLE = factsOf({ token: true, visible: true });
const DONE = factsOf({ terminator: true, last: true });

/** Untrusted JSON. Each step through it is written `?.`, which is undefined, never a crash, on whatever stands there. */
type Json = { readonly [key: string]: Json } | null | undefined;

const filled = (value: unknown): boolean => typeof value === 'string' && value !== '';
const list = (value: Json): readonly Json[] => (Array.isArray(value) ? value : []);
const count = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS ? (value as number) : undefined;

/** The absent stays absent: a usage without any count is no usage. */
function usageOf(counts: { [Name in keyof TokenUsage]: number | undefined }): { usage?: TokenUsage } {
  const usage: { -readonly [Name in keyof TokenUsage]: TokenUsage[Name] } = {};
  let known = false;
  for (const name of Object.keys(counts) as (keyof TokenUsage)[]) {
    const value = counts[name];
    if (value === undefined) continue;
    usage[name] = value;
    known = true;
  }
  return known ? { usage } : {};
}

/** What all presets share: the end marker, our own event, and JSON that does not parse. */
function fromJson(read: (body: Json, event: SseEvent) => TokenFacts): TokenPreset {
  return (event) => {
    if (event.event === FIRSTTOKEN_EVENT) return NO_FACTS;
    if (event.data === '[DONE]') return DONE;
    let body: Json;
    try {
      body = JSON.parse(event.data);
    } catch {
      return event.event === 'error' ? { ...NO_FACTS, error: true } : NO_FACTS;
    }
    return read(body, event);
  };
}

/** Some servers put text and thinking as parts in a list where others have a string. */
const anyText = (parts: Json): boolean => list(parts).some((part) => filled(part?.text));
const anyThinking = (parts: Json): boolean =>
  list(parts).some((part) => filled(part?.thinking) || anyText(part?.thinking));

const typeOf = (body: Json, event: SseEvent): string => {
  const type: unknown = body?.type;
  return typeof type === 'string' ? type : event.event;
};

/** OpenAI chat completions (and the older `text` completions), with the reasoning fields of vLLM, DeepSeek and OpenRouter. */
export const readOpenAiChat: TokenPreset = fromJson((body, { event }) => {
  let visible = false;
  let reasoning = false;
  let tool = false;
  let terminator = false;
  let error = event === 'error' || Boolean(body?.error);
  for (const choice of list(body?.choices)) {
    const delta = choice?.delta;
    visible ||= filled(choice?.text) || filled(delta?.content) || filled(delta?.refusal);
    visible ||= anyText(delta?.content);
    reasoning ||= filled(delta?.reasoning_content) || filled(delta?.reasoning) || anyThinking(delta?.content);
    for (const call of [delta?.function_call, ...list(delta?.tool_calls)]) {
      for (const part of [call, call?.function, call?.custom]) {
        tool ||= filled(part?.name) || filled(part?.arguments) || filled(part?.input);
      }
    }
    terminator ||= filled(choice?.finish_reason);
    error ||= (choice?.finish_reason as unknown) === 'error';
  }
  const usage = body?.usage;
  return {
    token: visible || reasoning || tool,
    visible,
    reasoning,
    terminator,
    last: false,
    error,
    ...(usage &&
      usageOf({
        outputTokens: count(usage?.completion_tokens),
        reasoningTokens: count(usage?.completion_tokens_details?.reasoning_tokens),
        promptTokens: count(usage?.prompt_tokens),
        cachedTokens: count(usage?.prompt_tokens_details?.cached_tokens),
      })),
  };
});

/** OpenAI responses: a token is a non-empty `delta` of any kind, or the name of a tool in an item just added. */
export const readOpenAiResponses: TokenPreset = fromJson((body, event) => {
  const type = typeOf(body, event);
  const delta = type.endsWith('.delta') && filled(body?.delta);
  const terminator = type === 'response.completed' || type === 'response.incomplete';
  const error = type === 'error' || type === 'response.failed' || Boolean(body?.error);
  const usage = body?.response?.usage;
  return {
    token: delta || (type === 'response.output_item.added' && filled(body?.item?.name)),
    visible: delta && (type.includes('output_text') || type.includes('refusal')),
    reasoning: delta && type.includes('reasoning'),
    terminator,
    last: terminator || error,
    error,
    ...(usage &&
      usageOf({
        outputTokens: count(usage?.output_tokens),
        reasoningTokens: count(usage?.output_tokens_details?.reasoning_tokens),
        promptTokens: count(usage?.input_tokens),
        cachedTokens: count(usage?.input_tokens_details?.cached_tokens),
      })),
  };
});

/** Anthropic messages. Its `input_tokens` leave out what the cache gave or took; the prompt is the sum. */
export const readAnthropic: TokenPreset = fromJson((body, event) => {
  const type = typeOf(body, event);
  const part =
    type === 'content_block_start' ? body?.content_block : type === 'content_block_delta' ? body?.delta : null;
  const visible = filled(part?.text);
  const reasoning = filled(part?.thinking);
  const last = type === 'message_stop';
  const usage = body?.usage ?? body?.message?.usage;
  const fresh = count(usage?.input_tokens);
  const cached = count(usage?.cache_read_input_tokens);
  return {
    token: visible || reasoning || filled(part?.name) || filled(part?.partial_json),
    visible,
    reasoning,
    terminator: last || (type === 'message_delta' && filled(body?.delta?.stop_reason)),
    last: last || type === 'error',
    error: type === 'error',
    ...(usage &&
      usageOf({
        // The count of `message_start` is a beginning; only that of `message_delta` is the sum so far.
        outputTokens: type === 'message_delta' ? count(usage?.output_tokens) : undefined,
        promptTokens:
          fresh === undefined
            ? undefined
            : count(fresh + (cached ?? 0) + (count(usage?.cache_creation_input_tokens) ?? 0)),
        cachedTokens: cached,
      })),
  };
});

/** Text as it is: every non-empty event is a visible token. The terminator of such a stream is its clean end. */
export const readRaw: TokenPreset = ({ event, data }) => {
  if (event === FIRSTTOKEN_EVENT) return NO_FACTS;
  if (event === 'error') return { ...NO_FACTS, error: true };
  if (data === '[DONE]') return DONE;
  return data === '' ? NO_FACTS : VISIBLE;
};

export const TOKEN_PRESETS = {
  'openai-chat': readOpenAiChat,
  'openai-responses': readOpenAiResponses,
  anthropic: readAnthropic,
  raw: readRaw,
} as const satisfies Record<string, TokenPreset>;

export type TokenPresetName = keyof typeof TOKEN_PRESETS;
