import { createSseReader } from '../../contract/sse.ts';
import { readRaw, TOKEN_PRESETS, type TokenPreset, type TokenUsage } from '../../contract/tokens.ts';
import type { AnswerReader } from './answerReader.ts';
import { mayHoldEngineFacts, readEngineFacts } from './engineFacts.ts';
import { guarded } from './warnings.ts';

/** A count of null, which OpenAI sends with each chunk but the last, is none. */
const USAGE = /"usage"(?!\s*:\s*null)/;
const META_INFO = /"meta_info"/;

/** What is still looked for after the first token. */
interface Wanted {
  readonly bytes: Buffer;
  readonly text: RegExp;
}

/** vLLM sends its metrics together with the usage. Raw text has none, but SGLang's own events have facts in each. */
const wanted = (word: string, text: RegExp): Wanted => ({ bytes: Buffer.from(word), text });
const WANTED_USAGE = wanted('"usage"', USAGE);
const WANTED_META_INFO = wanted('"meta_info"', META_INFO);

/**
 * An answer as server-sent events. Until the first token the preset reads each event. After it only the usage is of interest, and
 * reading everything would cost the app time: a chunk of whole events without that word is not looked at further. An app's own
 * function gets all events, since where it finds its usage is unknown.
 */
export function streamAnswer(preset: TokenPreset): AnswerReader {
  const ours = Object.values<TokenPreset>(TOKEN_PRESETS).includes(preset);
  const stillWanted = ours ? (preset === readRaw ? WANTED_META_INFO : WANTED_USAGE) : undefined;
  let seen = false;
  let usage: TokenUsage = {};
  let ofEngine: string | undefined;
  // Nothing is half-read: the last chunk has ended with a blank line.
  let betweenEvents = false;

  const reader = createSseReader((event) => {
    // The last one counts: SGLang repeats its facts with each event.
    if (mayHoldEngineFacts(event.data)) ofEngine = event.data;
    if (seen && ours && !USAGE.test(event.data)) return;
    const facts = guarded('option_failed', () => preset(event));
    seen ||= facts?.token === true;
    usage = { ...usage, ...facts?.usage };
  });

  return {
    read(chunk, encoding) {
      if (seen && betweenEvents && stillWanted !== undefined && canSkip(chunk, encoding, stillWanted)) return true;
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
      reader.push(bytes);
      betweenEvents = endsEvents(bytes);
      return seen;
    },
    goesOn: true,
    finish() {
      const engine = ofEngine === undefined ? {} : readEngineFacts(ofEngine);
      return { usage: { ...engine.usage, ...usage }, engine };
    },
  };
}

/** Whole events, none of which has what is wanted. Says no where it is not sure. */
function canSkip(chunk: string | Uint8Array, encoding: BufferEncoding, { bytes, text }: Wanted): boolean {
  if (typeof chunk === 'string') {
    return (encoding === 'utf8' || encoding === 'utf-8') && chunk.endsWith('\n\n') && !text.test(chunk);
  }
  if (!endsEvents(chunk)) return false;
  const buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return !buffer.includes(bytes) || !text.test(buffer.toString());
}

/** Ends with a blank line, by line feeds alone: most streams do. */
const endsEvents = (bytes: Uint8Array): boolean => {
  const { length } = bytes;
  return length >= 2 && bytes[length - 1] === 10 && bytes[length - 2] === 10;
};
