import type { SseEvent } from '../contract/sse.ts';
import { FIRSTTOKEN_EVENT, readOpenAiChat, type TokenFacts, type TokenUsage } from '../contract/tokens.ts';
import type { Settings } from './settings.ts';

/** How a stream was left; `break`: by the network; `error`: by a refusal; `unseen`: nothing of it could be observed. */
export type Ending = 'end' | 'abort' | 'break' | 'error' | 'unseen';

/** What was seen of one HTTP attempt. Times are `performance.now()`. */
export interface StreamRecord {
  traceId: string;
  readonly startedAt: number;
  readonly options: Settings;
  /** Wall clock less monotonic clock, when the record was opened. */
  readonly clockDifference: number;
  /** The request's address, by which the browser lists its connection. */
  url?: string;
  callId?: string | null | undefined;
  timingTrace?: string | null | undefined;
  serverTiming?: string | null;
  /** Of the token-bearing events. */
  readonly arrivals: number[];
  /** Of each arrival; not a whole number where unknown. */
  readonly tokenCounts: number[];
  usage?: TokenUsage;
  firstVisibleAt?: number;
  reasoningSeen?: boolean | undefined;
  terminatorSeen?: boolean | undefined;
  errorSeen?: boolean | undefined;
  lastEventAt?: number;
  /** Arrivals that shared a read with an earlier one. */
  shared: number;
  /** Undefined while it runs. */
  ending?: Ending;
  endedAt?: number;
  /** Who reports the record is told of tokens and of the end. */
  onToken?: (at: number) => void;
  onEnd?: () => void;
  /** Takes an event that arrived at this time. Never throws. */
  take(event: SseEvent, at: number): void;
  /** Takes what an event says. */
  note(facts: Partial<TokenFacts>, at: number): void;
  /**
   * The stream is over; the first call decides how. A signal that is aborted, or such an error, makes an abort of it.
   *
   * @returns whether it was aborted
   */
  end(how: Ending, error?: unknown): boolean;
}

/** @param togetherMs events at most so far apart came in one read; the events of one read have one time */
export function openRecord(traceId: string, startedAt: number, options: Settings, togetherMs = 0): StreamRecord {
  const arrivals: number[] = [];
  let tokensSoFar = 0;
  const record: StreamRecord = {
    traceId,
    startedAt,
    options,
    clockDifference: Date.now() - performance.now(),
    callId: options.callId,
    arrivals,
    tokenCounts: [],
    shared: 0,
    take(event, at) {
      try {
        if (event.event === FIRSTTOKEN_EVENT) record.timingTrace = JSON.parse(event.data).timing_trace;
        else record.note((options.tokensOf ?? readOpenAiChat)(event), at);
      } catch {
        // What the app's function cannot read bears no token.
      }
    },
    note({ token, tokenCount, visible, reasoning, terminator, last, error, usage }, at) {
      if (record.ending) return;
      record.lastEventAt = at;
      if (token) {
        if (at - arrivals.at(-1)! <= togetherMs) record.shared++;
        arrivals.push(at);
        // Some engines repeat the sum so far with each event.
        record.tokenCounts.push(tokenCount ?? (usage?.outputTokens ?? Number.NaN) - tokensSoFar);
        record.onToken?.(at);
      }
      if (visible) record.firstVisibleAt ??= at;
      tokensSoFar = usage?.outputTokens ?? tokensSoFar;
      if (usage) record.usage = { ...record.usage, ...usage };
      record.reasoningSeen ||= reasoning;
      record.terminatorSeen ||= terminator;
      record.errorSeen ||= error;
      if (last) record.end('end');
    },
    end(how, error) {
      if (!record.ending) {
        record.ending = options.signal?.aborted || (error as Error)?.name === 'AbortError' ? 'abort' : how;
        record.endedAt = performance.now();
        record.onEnd?.();
      }
      return record.ending === 'abort';
    },
  };
  return record;
}
