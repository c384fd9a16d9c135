import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerStart } from './answerReader.ts';
import { type HeldStart, type HeldStarts, heldStarts } from './heldStarts.ts';
import { amendHeader, readStart, type WriteHeadArguments, withHeaders } from './responseHeaders.ts';
import type { Stamps } from './stamps.ts';

export interface ResponseStartOptions {
  readonly stamps: Stamps;
  /** The id to echo. */
  readonly traceId: string;
  /** How long a start that `writeHead` wrote may wait for the first chunk, milliseconds; 0 leaves it to Node. */
  readonly holdMs: number;
}

interface Description extends AnswerStart {
  /** The id that the app names itself; empty where it does not. */
  readonly traceId: string;
}

/** Status and headers of one response, from `writeHead` until they leave. */
export class ResponseStart {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #stamps: Stamps;
  readonly #traceId: string;
  readonly #held: HeldStarts | undefined;
  #description: Description | undefined;
  #headerAsWritten: string | undefined;
  #waiting: HeldStart | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, { stamps, traceId, holdMs }: ResponseStartOptions) {
    this.#req = req;
    this.#res = res;
    this.#stamps = stamps;
    this.#traceId = traceId;
    this.#held = holdMs > 0 ? heldStarts(holdMs) : undefined;
  }

  /** What it says about the body: as it was written, or as Node would write it now. */
  get description(): Description {
    return this.#description ?? this.#describe([this.#res.statusCode]);
  }

  /** The arguments of `writeHead` with both of our headers. */
  addHeaders(args: WriteHeadArguments): WriteHeadArguments {
    // Now, not at the first chunk: what compresses below us names its encoding only later, and we read the text above it.
    this.#description = this.#describe(args);
    const value = this.#stamps.toString();
    // An app that names the trace itself has its reasons.
    const ownId = this.#description.traceId !== '';
    const added = ownId ? { 'X-Timing-Trace': value } : { 'X-Timing-Trace': value, 'X-Trace-ID': this.#traceId };
    const timed = withHeaders(args, added);
    if (timed !== args) this.#headerAsWritten = value;
    return timed;
  }

  /** Lets it wait for the first chunk. */
  hold(start: HeldStart): void {
    if (!this.#held) return;
    this.#waiting = start;
    this.#held.add(start);
  }

  get isHeld(): boolean {
    return this.#headerAsWritten !== undefined;
  }

  /** It leaves now: the header gets the stamps there are. */
  settle(): void {
    this.close();
    const before = this.#headerAsWritten;
    if (before === undefined) return;
    this.#headerAsWritten = undefined;
    const now = this.#stamps.toString();
    if (now !== before) amendHeader(this.#res, 'X-Timing-Trace', before, now);
  }

  close(): void {
    if (!this.#waiting) return;
    this.#held?.remove(this.#waiting);
    this.#waiting = undefined;
  }

  #describe(args: WriteHeadArguments): Description {
    const found = {
      method: this.#req.method,
      status: Number(args[0]),
      contentType: '',
      contentEncoding: '',
      contentLength: '',
      traceId: '',
    };
    readStart(this.#res, args, found);
    return found;
  }
}
