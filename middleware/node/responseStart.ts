import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerStart } from './answerReader.ts';
import { amendHeader, headerValue, type WriteHeadArguments, withHeader } from './responseHeaders.ts';
import type { Stamps } from './stamps.ts';

const TRACE_ID_HEADER = 'X-Trace-ID';
const TIMING_TRACE_HEADER = 'X-Timing-Trace';

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
    this.#description = this.#describe(args);
    const value = this.#options.stamps.toString();
    const timed = withHeader(args, TIMING_TRACE_HEADER, value);
    if (timed === args) return args;
    this.#headerAsWritten = value;
    // An app that names the trace itself has its reasons.
    const named = headerValue(this.#res, args, 'x-trace-id') !== '';
    return named ? timed : withHeader(timed, TRACE_ID_HEADER, this.#options.traceId);
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
    if (this.#headerAsWritten === undefined) return;
    amendHeader(this.#res, TIMING_TRACE_HEADER, this.#headerAsWritten, this.#options.stamps.toString());
    this.#headerAsWritten = undefined;
  }

  close(): void {
    clearTimeout(this.#holdTimer);
  }

  #describe(args: WriteHeadArguments): AnswerStart {
    return {
      method: this.#req.method,
      status: Number(args[0]),
      contentType: headerValue(this.#res, args, 'content-type'),
      contentEncoding: headerValue(this.#res, args, 'content-encoding'),
      contentLength: headerValue(this.#res, args, 'content-length'),
    };
  }
}
