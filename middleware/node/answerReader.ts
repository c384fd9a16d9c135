import type { TokenPreset, TokenUsage } from '../../contract/tokens.ts';
import type { EngineFacts } from './engineFacts.ts';
import { jsonAnswer } from './jsonAnswer.ts';
import { StreamAnswer } from './streamAnswer.ts';

/** What the start of a response says about its body. */
export interface AnswerStart {
  readonly method: string | undefined;
  readonly status: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  /** Empty where the body's end is marked otherwise. */
  readonly contentLength: string;
}

/** What a body told beside its tokens. */
export interface AnswerFacts {
  readonly usage: TokenUsage;
  readonly engine: EngineFacts;
}

/** Looks for tokens in the body of one response. */
export interface AnswerReader {
  /** Takes the next non-empty chunk, as `write` got it. Returns whether a token was seen up to here. */
  read(chunk: string | Uint8Array, encoding: BufferEncoding): boolean;
  /** Whether chunks after the first token can still tell something. */
  readonly goesOn: boolean;
  /** The body is over, whole or not. */
  finish(): AnswerFacts;
}

export const NOTHING_TOLD: AnswerFacts = Object.freeze({ usage: {}, engine: {} });

const NO_ANSWER: AnswerReader = { read: () => false, goesOn: false, finish: () => NOTHING_TOLD };
const PLAIN_ANSWER: AnswerReader = { read: () => true, goesOn: false, finish: () => NOTHING_TOLD };

const EVENT_STREAM = /^text\/event-stream\b/i;
const JSON_BODY = /^application\/json\b/i;

const isReadable = ({ contentEncoding }: AnswerStart): boolean =>
  contentEncoding === '' || contentEncoding.toLowerCase() === 'identity';

const bearsAnswer = ({ method, status }: AnswerStart): boolean =>
  method !== 'HEAD' && status >= 200 && status <= 299 && status !== 204;

/** Whether the body is an answer as server-sent events, in plain text. */
export const isEventStream = (start: AnswerStart): boolean =>
  bearsAnswer(start) && EVENT_STREAM.test(start.contentType) && isReadable(start);

/**
 * Chooses how to read a body. In an event stream the preset decides which events bear a token. Any other body is the answer
 * itself, so its first byte counts, and JSON may tell its usage. Nothing counts in what is no answer (an error, a redirect, no
 * body), nor in a compressed event stream, whose first bytes may be anything.
 */
export function createAnswerReader(start: AnswerStart, preset: TokenPreset): AnswerReader {
  if (!bearsAnswer(start)) return NO_ANSWER;
  if (EVENT_STREAM.test(start.contentType)) return isReadable(start) ? new StreamAnswer(preset) : NO_ANSWER;
  return JSON_BODY.test(start.contentType) && isReadable(start) ? jsonAnswer() : PLAIN_ANSWER;
}
