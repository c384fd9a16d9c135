import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenPreset } from '../../contract/tokens.ts';
import { type AnswerReader, createAnswerReader, isEventStream, NOTHING_TOLD } from './answerReader.ts';
import { encodingOf, isFilled } from './chunk.ts';
import { readClock } from './clock.ts';
import type { RequestFacts } from './requestFacts.ts';
import type { WriteHeadArguments } from './responseHeaders.ts';
import { ResponseStart } from './responseStart.ts';
import { StreamTail } from './streamTail.ts';
import { guarded, warnOfError } from './warnings.ts';

export interface ResponseWatch {
  readonly facts: RequestFacts;
  readonly preset: TokenPreset;
  readonly holdMs: number;
  /** Whether to write the facts as the last event of an event stream. */
  readonly addsEvent: boolean;
  /** Told once when the response has finished or its connection has closed; by then `facts` has what the body told. */
  readonly watcher: { onClosed(): void };
}

/** A method of the response, whichever overload of it the app calls: the encoding or the callback may stand in front. */
type Method = (chunk?: unknown, encoding?: unknown, callback?: unknown) => unknown;

const WATCHED = Symbol('firsttoken.watched');
type Watched = ServerResponse & { [WATCHED]: WatchedResponse };

/**
 * Takes t5 and t6 and adds the two headers to a response, whose bytes stay as they are. Node itself holds the start back until
 * something follows `writeHead`, so the header's value is brought up to date at the first chunk, an explicit flush or the end;
 * after `holdMs` without any, the start is flushed with the stamps there are. An empty chunk makes Node send the start, and counts
 * as an explicit flush.
 */
export function watchResponse(req: IncomingMessage, res: ServerResponse, watch: ResponseWatch): void {
  const watched = res as Watched;
  watched[WATCHED] = new WatchedResponse(req, res, watch);
  Object.assign(res, OVERRIDES);
  res.on('finish', close);
  res.on('close', close);
}

/** One of each for all responses: functions made for every request are what costs most. */
const OVERRIDES = {
  writeHead(this: Watched, ...args: unknown[]): unknown {
    return this[WATCHED].writeHead(args);
  },
  flushHeaders(this: Watched): unknown {
    return this[WATCHED].flushHeaders();
  },
  write(this: Watched, chunk?: unknown, encoding?: unknown, callback?: unknown): unknown {
    return this[WATCHED].write(chunk, encoding, callback);
  },
  end(this: Watched, chunk?: unknown, encoding?: unknown, callback?: unknown): unknown {
    return this[WATCHED].end(chunk, encoding, callback);
  },
};

function close(this: Watched): void {
  this[WATCHED].close();
}

class WatchedResponse {
  readonly #res: ServerResponse;
  readonly #watch: ResponseWatch;
  readonly #start: ResponseStart;
  readonly #tail: StreamTail | undefined;
  // As they were before us: another library may have put its own there.
  readonly #writeHead: (...args: never[]) => unknown;
  readonly #flushHeaders: Method;
  readonly #write: Method;
  readonly #end: Method;
  #answer: AnswerReader | undefined;
  #tokenSeen = false;
  #closed = false;
  /** Node's and others' methods call each other; only the outermost call is the app's. */
  #inside = false;

  constructor(req: IncomingMessage, res: ServerResponse, watch: ResponseWatch) {
    const { stamps, identity } = watch.facts;
    this.#res = res;
    this.#watch = watch;
    this.#start = new ResponseStart(req, res, { stamps, traceId: identity.given, holdMs: watch.holdMs });
    this.#tail = watch.addsEvent ? new StreamTail() : undefined;
    this.#writeHead = res.writeHead;
    this.#flushHeaders = res.flushHeaders;
    this.#write = res.write as Method;
    this.#end = res.end as Method;
  }

  writeHead(args: WriteHeadArguments): unknown {
    if (this.#res.headersSent) return Reflect.apply(this.#writeHead, this.#res, args);
    let withOurs = args;
    try {
      withOurs = this.#start.addHeaders(args);
    } catch (error) {
      warnOfError('internal', error);
    }
    const result = Reflect.apply(this.#writeHead, this.#res, withOurs);
    if (!this.#inside) this.#start.hold(this);
    return result;
  }

  flushHeaders(): unknown {
    guarded('internal', () => this.#start.settle());
    return this.#enter(this.#flushHeaders);
  }

  write(chunk: unknown, encoding: unknown, callback: unknown): unknown {
    if (!this.#tokenSeen || this.#inside || this.#closed || this.#tail) {
      return this.#pass(this.#write, chunk, encoding, callback);
    }
    // Nearly all chunks: nothing is to be stamped any more, so they leave first.
    this.#inside = true;
    let result: unknown;
    try {
      result = this.#write.call(this.#res, chunk, encoding, callback);
    } finally {
      this.#inside = false;
    }
    if (this.#answer!.goesOn) this.#readOn(chunk, encoding);
    return result;
  }

  end(chunk: unknown, encoding: unknown, callback: unknown): unknown {
    const adds = this.#tail && this.#isOurs() && guarded('internal', () => this.#mayAddEvent());
    return adds
      ? this.#endWithEvent(this.#tail, chunk, encoding, callback)
      : this.#pass(this.#end, chunk, encoding, callback);
  }

  /** The start has waited long enough. */
  release(): void {
    guarded('internal', () => {
      if (this.#closed || this.#res.destroyed || !this.#start.isHeld) return;
      this.#start.settle();
      this.#flushHeaders.call(this.#res);
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#start.close();
    this.#watch.facts.told = guarded('internal', () => this.#answer?.finish()) ?? NOTHING_TOLD;
    this.#watch.watcher.onClosed();
  }

  #pass(method: Method, chunk: unknown, encoding: unknown, callback: unknown): unknown {
    if (!this.#isOurs()) return method.call(this.#res, chunk, encoding, callback);
    if (!this.#tokenSeen) return this.#passUntilToken(method, chunk, encoding, callback);
    const result = this.#enter(method, chunk, encoding, callback);
    if (this.#answer?.goesOn || this.#tail) this.#readOn(chunk, encoding);
    return result;
  }

  /** After the first token, for the usage. */
  #readOn(chunk: unknown, encoding: unknown): void {
    try {
      this.#read(chunk, encoding);
    } catch (error) {
      warnOfError('internal', error);
    }
  }

  #passUntilToken(method: Method, chunk: unknown, encoding: unknown, callback: unknown): unknown {
    const { stamps } = this.#watch.facts;
    const enteredAt = readClock();
    try {
      this.#tokenSeen = this.#read(chunk, encoding);
      if (this.#tokenSeen) stamps.end('serialize', enteredAt);
      this.#start.settle();
    } catch (error) {
      warnOfError('internal', error);
    }
    const result = this.#enter(method, chunk, encoding, callback);
    if (this.#tokenSeen) stamps.end('send');
    return result;
  }

  #isOurs(): boolean {
    return !(this.#inside || this.#closed || this.#res.writableEnded || this.#res.destroyed);
  }

  #enter(method: Method, chunk?: unknown, encoding?: unknown, callback?: unknown): unknown {
    const outer = this.#inside;
    this.#inside = true;
    try {
      return method.call(this.#res, chunk, encoding, callback);
    } finally {
      this.#inside = outer;
    }
  }

  /** Whether a token was seen up to here. */
  #read(chunk: unknown, encoding: unknown): boolean {
    if (!isFilled(chunk)) return false;
    const textEncoding = encodingOf(encoding);
    this.#tail?.add(chunk, textEncoding);
    this.#answer ??= createAnswerReader(this.#start.description, this.#watch.preset);
    return this.#answer.read(chunk, textEncoding);
  }

  /** Only behind a whole event stream whose length was not promised. */
  #mayAddEvent(): boolean {
    const { description } = this.#start;
    return isEventStream(description) && description.contentLength === '';
  }

  #endWithEvent(tail: StreamTail, chunk: unknown, encoding: unknown, callback: unknown): unknown {
    const { facts } = this.#watch;
    if (isFilled(chunk)) this.#pass(this.#write, chunk, encodingOf(encoding), undefined);
    // An event that the app left unfinished stays so: what it would become is not what the app said.
    if (tail.betweenEvents && !this.#res.destroyed && !facts.eventGiven) {
      const event = guarded('internal', () => facts.toEvent());
      if (event) this.#enter(this.#write, event);
    }
    const ended = [chunk, encoding, callback].find((argument) => typeof argument === 'function');
    return this.#pass(this.#end, ended, undefined, undefined);
  }
}
