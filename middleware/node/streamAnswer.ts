import { createSseReader, type SseEvent, type SseReader } from '../../contract/sse.ts';
import { readRaw, TOKEN_PRESETS, type TokenFacts, type TokenPreset, type TokenUsage } from '../../contract/tokens.ts';
import { type AnswerFacts, type AnswerReader, NOTHING_TOLD } from './answerReader.ts';
import { mayHoldEngineFacts, readEngineFacts } from './engineFacts.ts';
import { readSimpleEvents } from './simpleEvents.ts';
import { warnOfError } from './warnings.ts';

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

/** Chunks that are kept to be searched at the end. */
const LAST_CHUNKS = 32;
/** A longer one is searched at once, so that no stream holds much memory. */
const MAX_KEPT_CHARACTERS = 16_384;

/**
 * An answer as server-sent events. Until the first token the preset reads each event. After it only the usage is of interest, which
 * every API sends with its last events, and looking for it in each chunk would cost the app time: the last chunks of text are kept, and
 * searched when the answer is over. Chunks of bytes cannot be kept, since their memory may be used again: they are searched at once, and
 * those that lack the word are not looked at further. An app's own function gets all events, since where it finds its usage is unknown.
 */
export class StreamAnswer implements AnswerReader {
  readonly goesOn = true;
  readonly #preset: TokenPreset;
  readonly #ours: boolean;
  readonly #stillWanted: Wanted | undefined;
  #seen = false;
  #usage: TokenUsage = {};
  #ofEngine: string | undefined;
  #begun = false;
  /** Nothing is half-read: the last chunk has ended with a blank line. */
  #betweenEvents = true;
  /** Made for the first chunk that is not simple. */
  #reader: SseReader | undefined;
  /** Texts in UTF-8 since the first token, the last of them; a ring. */
  #lastChunks: string[] | undefined;
  #kept = 0;

  constructor(preset: TokenPreset) {
    this.#preset = preset;
    this.#ours = OURS.has(preset);
    // vLLM sends its metrics together with the usage. Raw text has none, but SGLang's own events have facts in each.
    if (this.#ours) this.#stillWanted = preset === readRaw ? WANTED_META_INFO : WANTED_USAGE;
  }

  read(chunk: string | Uint8Array, encoding: BufferEncoding): boolean {
    if (this.#lastChunks) {
      if (typeof chunk === 'string' && isUtf8(encoding) && chunk.length <= MAX_KEPT_CHARACTERS) {
        this.#lastChunks[this.#kept++ % LAST_CHUNKS] = chunk;
        return true;
      }
      this.#readKept();
    }
    if (this.#betweenEvents && (typeof chunk !== 'string' || isUtf8(encoding)) && endsEvents(chunk)) {
      if (this.#seen && this.#stillWanted !== undefined && lacks(chunk, this.#stillWanted)) return true;
      if (this.#readSimple(chunk)) {
        this.#begun = true;
        if (this.#seen && this.#ours && typeof chunk === 'string') this.#lastChunks = [];
        return this.#seen;
      }
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    this.#reader ??= this.#startReader();
    this.#reader.push(bytes);
    this.#begun = true;
    this.#betweenEvents = endsEvents(bytes);
    return this.#seen;
  }

  finish(): AnswerFacts {
    this.#readKept();
    if (this.#ofEngine === undefined) return { usage: this.#usage, engine: NOTHING_TOLD.engine };
    const engine = readEngineFacts(this.#ofEngine);
    return { usage: { ...engine.usage, ...this.#usage }, engine };
  }

  /** What stands half-read at its beginning bears no meaning, as a field without a name or as JSON that does not parse. */
  #readKept(): void {
    const last = this.#lastChunks;
    this.#lastChunks = undefined;
    if (!last || this.#kept === 0) return;
    const oldest = this.#kept > LAST_CHUNKS ? this.#kept % LAST_CHUNKS : 0;
    const text = [...last.slice(oldest), ...last.slice(0, oldest)].join('');
    this.#betweenEvents = endsEvents(text);
    if (this.#betweenEvents && (lacks(text, this.#stillWanted!) || this.#readTold(text))) return;
    this.#reader ??= this.#startReader();
    this.#reader.push(Buffer.from(text));
  }

  #take(event: SseEvent): void {
    // The last one counts: SGLang repeats its facts with each event.
    if (mayHoldEngineFacts(event.data)) this.#ofEngine = event.data;
    if (this.#seen && this.#ours && !USAGE.test(event.data)) return;
    let facts: TokenFacts | undefined;
    try {
      facts = this.#preset(event);
    } catch (error) {
      warnOfError('option_failed', error);
    }
    this.#seen ||= facts?.token === true;
    if (facts?.usage) this.#usage = Object.assign({}, this.#usage, facts.usage);
  }

  #readSimple(chunk: string | Uint8Array): boolean {
    // The reader knows the last id, which later events inherit. No preset of ours asks for it.
    if (this.#reader && !this.#ours) return false;
    const events = readSimpleEvents(typeof chunk === 'string' ? chunk : asBuffer(chunk).toString());
    if (events === undefined) return false;
    for (const data of events) this.#take({ event: 'message', data, id: undefined });
    return true;
  }

  /** The same of events that bear nothing but what is still wanted: one look at the whole text saves one at each event. */
  #readTold(text: string): boolean {
    const { word } = this.#stillWanted!;
    const events = this.#reader ? undefined : readSimpleEvents(text);
    if (events === undefined || mayHoldEngineFacts(text)) return this.#readSimple(text);
    for (const data of events) if (data.includes(word)) this.#take({ event: 'message', data, id: undefined });
    return true;
  }

  #startReader(): SseReader {
    const started = createSseReader((event) => this.#take(event));
    // A byte order mark is none but at the beginning of a stream.
    if (this.#begun) started.push(BLANK_LINE);
    return started;
  }
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
