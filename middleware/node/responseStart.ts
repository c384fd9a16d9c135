import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerStart } from './answerReader.ts';
import { amendHeader, headerValues, type WriteHeadArguments, withHeaders } from './responseHeaders.ts';
import type { Stamps } from './stamps.ts';

const TRACE_ID_HEADER = 'X-Trace-ID';
const TIMING_TRACE_HEADER = 'X-Timing-Trace';
const READ_HEADERS = ['content-type', 'content-encoding', 'content-length', TRACE_ID_HEADER.toLowerCase()];

export interface ResponseStartOptions {
  readonly stamps: Stamps;
  /** The id to echo. */
  readonly traceId: string;
  /** How long a start that `writeHead` wrote may wait for the first chunk, milliseconds; 0 leaves it to Node. */
  readonly holdMs: number;
}

/** Status and headers of one response, from `writeHead` until they leave. */
export class ResponseStart {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #options: ResponseStartOptions;
  #description: AnswerStart | undefined;
  #headerAsWritten: string | undefined;
  #holdTimer: NodeJS.Timeout | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, options: ResponseStartOptions) {
    this.#req = req;
    this.#res = res;
    this.#options = options;
  }

  /** What it says about the body: as it was written, or as Node would write it now. */
  get description(): AnswerStart {
    return this.#description ?? this.#describe([this.#res.statusCode]);
  }

  /** The arguments of `writeHead` with both of our headers. */
  addHeaders(args: WriteHeadArguments): WriteHeadArguments {
    // Now, not at the first chunk: what compresses below us names its encoding only later, and we read the text above it.
    const { traceId, ...description } = this.#describe(args);
    this.#description = description;
    const value = this.#options.stamps.toString();
    // An app that names the trace itself has its reasons.
    const ownId = traceId === '' ? { [TRACE_ID_HEADER]: this.#options.traceId } : {};
    const timed = withHeaders(args, { [TIMING_TRACE_HEADER]: value, ...ownId });
    if (timed !== args) this.#headerAsWritten = value;
    return timed;
  }

  /** Lets it wait for the first chunk, then calls `release`. */
  hold(release: () => void): void {
    if (this.#options.holdMs > 0) this.#holdTimer = setTimeout(release, this.#options.holdMs).unref();
  }

  get isHeld(): boolean {
    return this.#headerAsWritten !== undefined;
  }

  /** It leaves now: the header gets the stamps there are. */
  settle(): void {
    clearTimeout(this.#holdTimer);
    const before = this.#headerAsWritten;
    if (before === undefined) return;
    this.#headerAsWritten = undefined;
    const now = this.#options.stamps.toString();
    if (now !== before) amendHeader(this.#res, TIMING_TRACE_HEADER, before, now);
  }

  close(): void {
    clearTimeout(this.#holdTimer);
  }

  #describe(args: WriteHeadArguments): AnswerStart & { readonly traceId: string } {
    const values = headerValues(this.#res, args, READ_HEADERS) as [string, string, string, string];
    const [contentType, contentEncoding, contentLength, traceId] = values;
    return { method: this.#req.method, status: Number(args[0]), contentType, contentEncoding, contentLength, traceId };
  }
}
