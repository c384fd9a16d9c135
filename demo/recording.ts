import type { Beacon, StreamStatus, TokenSource } from '../contract/beacon.ts';
import { createSseReader, type SseEvent, type SseReader } from '../contract/sse.ts';
import { readOpenAiChat, streamOutcome, type TokenUsage } from '../contract/tokens.ts';

/** Fewer events say nothing about how they were delivered. */
const MIN_EVENTS_TO_JUDGE = 4;

/** What a beacon says about the tokens of a stream. */
export type StreamPart = Pick<
  Beacon,
  | 'ttft_ms'
  | 'ttft_visible_ms'
  | 'arrivals_ms'
  | 'chunk_tokens'
  | 'output_tokens'
  | 'output_tokens_source'
  | 'coalesced'
>;

/** Listens to one stream of OpenAI chat completions, bytes in, facts out. Keeps times and counts, never text. */
export class StreamRecording {
  readonly #arrivalsMs: number[] = [];
  readonly #chunkTokens: number[] = [];
  #everyChunkCounted = true;
  #sharedReads = 0;
  #visibleMs: number | null = null;
  #reasoningSeen = false;
  #terminatorSeen = false;
  #errorSeen = false;
  #usage: TokenUsage = {};
  #nowMs = 0;
  #tokensInRead = 0;
  readonly #reader: SseReader = createSseReader((event) => this.#hear(event));

  /** Takes the bytes of one read. `atMs`: when it returned, milliseconds from the fetch call; must not fall. */
  read(bytes: Uint8Array, atMs: number): void {
    this.#nowMs = Math.round(atMs * 1_000) / 1_000;
    this.#tokensInRead = 0;
    this.#reader.push(bytes);
  }

  /** Token-bearing events so far. */
  get events(): number {
    return this.#arrivalsMs.length;
  }

  /** How the stream ended, when it has. */
  outcome(aborted: boolean): StreamStatus {
    return streamOutcome({
      tokenSeen: this.events > 0,
      terminatorSeen: this.#terminatorSeen,
      errorSeen: this.#errorSeen,
      aborted,
    });
  }

  /** What is known so far. */
  facts(): StreamPart {
    return {
      ttft_ms: this.#arrivalsMs[0] ?? null,
      ttft_visible_ms: this.#visibleMs,
      arrivals_ms: [...this.#arrivalsMs],
      ...(this.#everyChunkCounted ? { chunk_tokens: [...this.#chunkTokens] } : {}),
      ...this.#outputTokens(),
      coalesced: this.events >= MIN_EVENTS_TO_JUDGE && this.#sharedReads > this.events / 2,
    };
  }

  #hear(event: SseEvent): void {
    const facts = readOpenAiChat(event);
    this.#terminatorSeen ||= facts.terminator;
    this.#errorSeen ||= facts.error;
    this.#reasoningSeen ||= facts.reasoning;
    const before = this.#usage.outputTokens ?? 0;
    if (facts.usage) this.#usage = { ...this.#usage, ...facts.usage };
    if (!facts.token) return;

    this.#arrivalsMs.push(this.#nowMs);
    if (facts.visible) this.#visibleMs ??= this.#nowMs;
    if (this.#tokensInRead++ > 0) this.#sharedReads++;
    // An engine that reports usage with every event (vLLM: continuous_usage_stats) reports the sum so far.
    const tokens = facts.tokenCount ?? (facts.usage?.outputTokens ?? before) - before;
    if (tokens > 0) this.#chunkTokens.push(tokens);
    else this.#everyChunkCounted = false;
  }

  #outputTokens(): { output_tokens: number; output_tokens_source: TokenSource } {
    const { outputTokens, reasoningTokens } = this.#usage;
    const counted = this.#chunkTokens.reduce((sum, tokens) => sum + tokens, 0);
    if (outputTokens !== undefined) {
      // Reasoning that was generated and not streamed took no part in the stream's pace.
      const unseen = this.#reasoningSeen ? 0 : (reasoningTokens ?? 0);
      return { output_tokens: Math.max(0, outputTokens - unseen), output_tokens_source: 'usage' };
    }
    if (this.#everyChunkCounted && counted > 0) return { output_tokens: counted, output_tokens_source: 'chunks' };
    return { output_tokens: this.events, output_tokens_source: 'events' };
  }
}
