import { createSseReader } from '../../contract/sse.ts';
import { TOKEN_PRESETS, type TokenPreset, type TokenUsage } from '../../contract/tokens.ts';
import { guarded } from './warnings.ts';

/** What the start of a response says about its body. */
export interface AnswerStart {
  readonly method: string | undefined;
  readonly status: number;
  readonly contentType: string;
  readonly contentEncoding: string;
}

/** Looks for tokens in the body of one response. */
export interface AnswerReader {
  /** Takes the next non-empty chunk. Returns whether a token was seen up to here. */
  read(chunk: Uint8Array): boolean;
  /** Whether chunks after the first token can still tell something. */
  readonly goesOn: boolean;
  usage(): TokenUsage;
}

const NO_ANSWER: AnswerReader = { read: () => false, goesOn: false, usage: () => ({}) };
const PLAIN_ANSWER: AnswerReader = { read: () => true, goesOn: false, usage: () => ({}) };

/**
 * Chooses how to read a body. In an event stream the preset decides which events bear a token. Any other body is the answer
 * itself, so its first byte counts. Nothing counts in what is no answer (an error, a redirect, no body), nor in a compressed event
 * stream, whose first bytes may be anything.
 */
export function createAnswerReader(start: AnswerStart, preset: TokenPreset): AnswerReader {
  const { status } = start;
  if (start.method === 'HEAD' || status < 200 || status > 299 || status === 204) return NO_ANSWER;
  if (!/^text\/event-stream\b/i.test(start.contentType)) return PLAIN_ANSWER;
  return /^(identity)?$/i.test(start.contentEncoding) ? streamReader(preset) : NO_ANSWER;
}

function streamReader(preset: TokenPreset): AnswerReader {
  // After the first token only the usage is of interest; parsing all other events would cost the app time. Where an app's own
  // function finds its usage is unknown.
  const ours = Object.values<TokenPreset>(TOKEN_PRESETS).includes(preset);
  let seen = false;
  let usage: TokenUsage = {};
  const reader = createSseReader((event) => {
    if (seen && ours && !event.data.includes('usage')) return;
    const facts = guarded('option_failed', () => preset(event));
    seen ||= facts?.token === true;
    usage = { ...usage, ...facts?.usage };
  });
  return {
    read(chunk) {
      reader.push(chunk);
      return seen;
    },
    goesOn: true,
    usage: () => usage,
  };
}
