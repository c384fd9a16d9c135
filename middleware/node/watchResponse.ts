import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenPreset } from '../../contract/tokens.ts';
import {
  type AnswerFacts,
  type AnswerReader,
  createAnswerReader,
  isEventStream,
  NOTHING_TOLD,
} from './answerReader.ts';
import { chunkOf, encodingOf, endCallbackOf } from './chunk.ts';
import type { WriteHeadArguments } from './responseHeaders.ts';
import { ResponseStart, type ResponseStartOptions } from './responseStart.ts';
import { nowNs } from './stamps.ts';
import { StreamTail } from './streamTail.ts';
import { guarded, warnOfError } from './warnings.ts';

export interface ResponseWatch extends ResponseStartOptions {
  readonly preset: TokenPreset;
  /** What to write behind the last byte of an event stream, asked when the app ends it; without it nothing is written. */
  readonly lastEvent?: (() => string) | undefined;
  /** Called once when the response has finished or its connection has closed. */
  onClosed(facts: AnswerFacts): void;
}

/** A method of the response, whichever overload of it the app called. */
type Method = (...args: never[]) => unknown;

/**
 * Takes t5 and t6 and adds the two headers to a response, whose bytes stay as they are. Node itself holds the start back until
 * something follows `writeHead`, so the header's value is brought up to date at the first chunk, an explicit flush or the end;
 * after `holdMs` without any, the start is flushed with the stamps there are. An empty chunk makes Node send the start, and counts
 * as an explicit flush.
 */
export function watchResponse(req: IncomingMessage, res: ServerResponse, watch: ResponseWatch): void {
  const { stamps, lastEvent } = watch;
  const { writeHead, write, end, flushHeaders } = res;
  const start = new ResponseStart(req, res, watch);
  const tail = lastEvent && new StreamTail();
  let answer: AnswerReader | undefined;
  let tokenSeen = false;
  let closed = false;
  // Node's and others' methods call each other; only the outermost call is the app's.
  let inside = false;

  const isOurs = (): boolean => !(inside || closed || res.writableEnded || res.destroyed);

  const enter = (method: Method, args: unknown[]): unknown => {
    const outer = inside;
    inside = true;
    try {
      return Reflect.apply(method, res, args);
    } finally {
      inside = outer;
    }
  };

  const read = (args: readonly unknown[]): boolean => {
    const chunk = chunkOf(args);
    if (chunk === undefined) return false;
    const encoding = encodingOf(args);
    tail?.add(chunk, encoding);
    answer ??= createAnswerReader(start.description, watch.preset);
    return answer.read(chunk, encoding);
  };

  /** Every chunk passes here, so no closure is made once the token has been seen. */
  const pass = (method: Method, args: unknown[]): unknown => {
    if (!isOurs()) return Reflect.apply(method, res, args);
    if (tokenSeen) {
      // Nothing is to be stamped any more: the chunk leaves first, then it is searched for usage.
      const result = enter(method, args);
      if (!answer?.goesOn && !tail) return result;
      try {
        read(args);
      } catch (error) {
        warnOfError('internal', error);
      }
      return result;
    }
    const enteredAtNs = nowNs();
    guarded('internal', () => {
      tokenSeen = read(args);
      if (tokenSeen) stamps.end('serialize', enteredAtNs);
      start.settle();
    });
    const result = enter(method, args);
    if (tokenSeen) stamps.end('send');
    return result;
  };

  /** Only behind a whole event stream whose length was not promised. */
  const mayAddEvent = (): boolean => isEventStream(start.description) && start.description.contentLength === '';

  const endWithEvent = (event: () => string, args: unknown[]): unknown => {
    if (chunkOf(args) !== undefined) pass(write, [args[0], encodingOf(args)]);
    // An event that the app left unfinished stays so: what it would become is not what the app said.
    const text = tail?.betweenEvents && !res.destroyed ? guarded('internal', event) : undefined;
    if (text) enter(write, [text]);
    return pass(end, endCallbackOf(args));
  };

  const releaseStart = (): void => {
    guarded('internal', () => {
      if (closed || res.destroyed || !start.isHeld) return;
      start.settle();
      flushHeaders.call(res);
    });
  };

  Object.assign(res, {
    writeHead(...args: WriteHeadArguments) {
      if (res.headersSent) return Reflect.apply(writeHead, res, args);
      const withOurs = guarded('internal', () => start.addHeaders(args)) ?? args;
      const result = Reflect.apply(writeHead, res, withOurs);
      if (!inside) start.hold(releaseStart);
      return result;
    },
    flushHeaders() {
      guarded('internal', () => start.settle());
      return enter(flushHeaders, []);
    },
    write(...args: unknown[]) {
      return pass(write, args);
    },
    end(...args: unknown[]) {
      const adds = lastEvent && isOurs() && guarded('internal', mayAddEvent);
      return adds ? endWithEvent(lastEvent, args) : pass(end, args);
    },
  });

  const close = (): void => {
    if (closed) return;
    closed = true;
    start.close();
    watch.onClosed(guarded('internal', () => answer?.finish()) ?? NOTHING_TOLD);
  };
  res.once('finish', close);
  res.once('close', close);
}
