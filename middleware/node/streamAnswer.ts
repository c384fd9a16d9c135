import { createSseReader, type SseEvent, type SseReader } from '../../contract/sse.ts';
import { readRaw, TOKEN_PRESETS, type TokenPreset, type TokenUsage } from '../../contract/tokens.ts';
import type { AnswerReader } from './answerReader.ts';
import { mayHoldEngineFacts, readEngineFacts } from './engineFacts.ts';
import { readSimpleEvents } from './simpleEvents.ts';
import { guarded } from './warnings.ts';

/** A count of null, which OpenAI sends with each chunk but the last, is none. */
const USAGE = /"usage"(?!\s*:\s*null)/;
const META_INFO = /"meta_info"/;

/** What is still looked for after the first token. */
interface Wanted {
  /**
   * Without its first quote: a search goes from one first character to the next, and there are many quotes in JSON. Up to six
   * characters V8 needs no table for it.
   */
  readonly word: string;
  readonly bytes: Buffer;
  readonly pattern: RegExp;
}

const wanted = (word: string, pattern: RegExp): Wanted => ({ word, bytes: Buffer.from(word), pattern });
const WANTED_USAGE = wanted('usage"', USAGE);
const WANTED_META_INFO = wanted('_info"', META_INFO);

const OURS: ReadonlySet<TokenPreset> = new Set(Object.values(TOKEN_PRESETS));
const BLANK_LINE = Buffer.from('\n');

/**
 * An answer as server-sent events. Until the first token the preset reads each event. After it only the usage is of interest, and
 * reading everything would cost the app time: a chunk of whole events without that word is not looked at further. An app's own
 * function gets all events, since where it finds its usage is unknown.
 */
export function streamAnswer(preset: TokenPreset): AnswerReader {
  const ours = OURS.has(preset);
  // vLLM sends its metrics together with the usage. Raw text has none, but SGLang's own events have facts in each.
  const stillWanted = ours ? (preset === readRaw ? WANTED_META_INFO : WANTED_USAGE) : undefined;
  let seen = false;
  let usage: TokenUsage = {};
  let ofEngine: string | undefined;
  let begun = false;
  // Nothing is half-read: the last chunk has ended with a blank line.
  let betweenEvents = true;
  // Made for the first chunk that is not simple.
  let reader: SseReader | undefined;

  const take = (event: SseEvent): void => {
    // The last one counts: SGLang repeats its facts with each event.
    if (mayHoldEngineFacts(event.data)) ofEngine = event.data;
    if (seen && ours && !USAGE.test(event.data)) return;
    const facts = guarded('option_failed', () => preset(event));
    seen ||= facts?.token === true;
    if (facts?.usage) usage = { ...usage, ...facts.usage };
  };

  const readSimple = (chunk: string | Uint8Array): boolean => {
    // The reader knows the last id, which later events inherit. No preset of ours asks for it.
    if (reader && !ours) return false;
    const events = readSimpleEvents(typeof chunk === 'string' ? chunk : asBuffer(chunk).toString());
    if (events === undefined) return false;
    for (const data of events) take({ event: 'message', data, id: undefined });
    return true;
  };

  const startReader = (): SseReader => {
    const started = createSseReader(take);
    // A byte order mark is none but at the beginning of a stream.
    if (begun) started.push(BLANK_LINE);
    return started;
  };

  return {
    read(chunk, encoding) {
      if (betweenEvents && (typeof chunk !== 'string' || isUtf8(encoding)) && endsEvents(chunk)) {
        if (seen && stillWanted !== undefined && lacks(chunk, stillWanted)) return true;
        if (readSimple(chunk)) {
          begun = true;
          return seen;
        }
      }
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
      reader ??= startReader();
      reader.push(bytes);
      begun = true;
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

/** Whether what is wanted does not stand in it, for certain. */
function lacks(chunk: string | Uint8Array, { word, bytes, pattern }: Wanted): boolean {
  if (typeof chunk === 'string') return !chunk.includes(word) || !pattern.test(chunk);
  const buffer = asBuffer(chunk);
  return !buffer.includes(bytes) || !pattern.test(buffer.toString());
}

/** Ends with a blank line, by line feeds alone: most streams do. */
function endsEvents(chunk: string | Uint8Array): boolean {
  if (typeof chunk === 'string') return chunk.endsWith('\n\n');
  const { length } = chunk;
  return length >= 2 && chunk[length - 1] === 10 && chunk[length - 2] === 10;
}

const isUtf8 = (encoding: BufferEncoding): boolean => encoding === 'utf8' || encoding === 'utf-8';

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
