import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenPreset } from '../../contract/tokens.ts';
import { type AnswerReader, createAnswerReader, isEventStream, NOTHING_TOLD } from './answerReader.ts';
import { chunkOf, encodingOf, endCallbackOf } from './chunk.ts';
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

/** A method of the response, whichever overload of it the app called. */
type Method = (...args: never[]) => unknown;

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
  write(this: Watched, ...args: unknown[]): unknown {
    return this[WATCHED].write(args);
  },
  end(this: Watched, ...args: unknown[]): unknown {
    return this[WATCHED].end(args);
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
  readonly #writeHead: Method;
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
    this.#write = res.write;
    this.#end = res.end;
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
    return this.#enter(this.#flushHeaders, []);
  }

  write(args: unknown[]): unknown {
    return this.#pass(this.#write, args);
  }

  end(args: unknown[]): unknown {
    const adds = this.#tail && this.#isOurs() && guarded('internal', () => this.#mayAddEvent());
    return adds ? this.#endWithEvent(this.#tail, args) : this.#pass(this.#end, args);
  }

  /** The start has waited long enough. */
  release(): void {
    guarded('internal', () => {
      if (this.#closed || this.#res.destroyed || !this.#start.isHeld) return;
      this.#start.settle();
      Reflect.apply(this.#flushHeaders, this.#res, []);
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#start.close();
    this.#watch.facts.told = guarded('internal', () => this.#answer?.finish()) ?? NOTHING_TOLD;
    this.#watch.watcher.onClosed();
  }

  /** Every chunk passes here, so little is done once the token has been seen. */
  #pass(method: Method, args: unknown[]): unknown {
    if (!this.#isOurs()) return Reflect.apply(method, this.#res, args);
    if (!this.#tokenSeen) return this.#passUntilToken(method, args);
    // Nothing is to be stamped any more: the chunk leaves first, then it is searched for usage.
    const result = this.#enter(method, args);
    if (this.#answer?.goesOn || this.#tail) {
      try {
        this.#read(args);
      } catch (error) {
        warnOfError('internal', error);
      }
    }
    return result;
  }

  #passUntilToken(method: Method, args: unknown[]): unknown {
    const { stamps } = this.#watch.facts;
    const enteredAt = readClock();
    try {
      this.#tokenSeen = this.#read(args);
      if (this.#tokenSeen) stamps.end('serialize', enteredAt);
      this.#start.settle();
    } catch (error) {
      warnOfError('internal', error);
    }
    const result = this.#enter(method, args);
    if (this.#tokenSeen) stamps.end('send');
    return result;
  }

  #isOurs(): boolean {
    return !(this.#inside || this.#closed || this.#res.writableEnded || this.#res.destroyed);
  }

  #enter(method: Method, args: unknown[]): unknown {
    const outer = this.#inside;
    this.#inside = true;
    try {
      return Reflect.apply(method, this.#res, args);
    } finally {
      this.#inside = outer;
    }
  }

  #read(args: readonly unknown[]): boolean {
    const chunk = chunkOf(args);
    if (chunk === undefined) return false;
    const encoding = encodingOf(args);
    this.#tail?.add(chunk, encoding);
    this.#answer ??= createAnswerReader(this.#start.description, this.#watch.preset);
    return this.#answer.read(chunk, encoding);
  }

  /** Only behind a whole event stream whose length was not promised. */
  #mayAddEvent(): boolean {
    const { description } = this.#start;
    return isEventStream(description) && description.contentLength === '';
  }

  #endWithEvent(tail: StreamTail, args: unknown[]): unknown {
    const { facts } = this.#watch;
    if (chunkOf(args) !== undefined) this.#pass(this.#write, [args[0], encodingOf(args)]);
    // An event that the app left unfinished stays so: what it would become is not what the app said.
    if (tail.betweenEvents && !this.#res.destroyed && !facts.eventGiven) {
      const event = guarded('internal', () => facts.toEvent());
      if (event) this.#enter(this.#write, [event]);
    }
    return this.#pass(this.#end, endCallbackOf(args));
  }
}
