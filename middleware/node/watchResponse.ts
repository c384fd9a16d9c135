import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenPreset, TokenUsage } from '../../contract/tokens.ts';
import { type AnswerReader, type AnswerStart, createAnswerReader } from './answerReader.ts';
import { amendHeader, headerValue, type WriteHeadArguments, withHeader } from './responseHeaders.ts';
import { nowNs, type Stamps } from './stamps.ts';
import { guarded } from './warnings.ts';

const TRACE_ID_HEADER = 'X-Trace-ID';
const TIMING_TRACE_HEADER = 'X-Timing-Trace';

export interface ResponseWatch {
  readonly stamps: Stamps;
  /** The id to echo. */
  readonly traceId: string;
  readonly preset: TokenPreset;
  /** How long a start that `writeHead` wrote may wait for the first chunk, milliseconds; 0 leaves it to Node. */
  readonly holdMs: number;
  /** Called once when the response has finished or its connection has closed. */
  onClosed(usage: TokenUsage): void;
}

/**
 * Takes t5 and t6 and adds the two headers to a response, whose bytes stay as they are. Node itself holds the start back until
 * something follows `writeHead`, so the header's value is brought up to date at the first chunk, an explicit flush or the end;
 * after `holdMs` without any, the start is flushed with the stamps there are. An empty chunk makes Node send the start, and counts
 * as an explicit flush.
 */
export function watchResponse(req: IncomingMessage, res: ServerResponse, watch: ResponseWatch): void {
  const { stamps } = watch;
  const { writeHead, write, end, flushHeaders } = res;
  let start: AnswerStart | undefined;
  let headerAsWritten: string | undefined;
  let holdTimer: NodeJS.Timeout | undefined;
  let answer: AnswerReader | undefined;
  let tokenSeen = false;
  let closed = false;
  // Node's and others' methods call each other; only the outermost call is the app's.
  let inside = false;

  const enter = <T>(forward: () => T): T => {
    const outer = inside;
    inside = true;
    try {
      return forward();
    } finally {
      inside = outer;
    }
  };

  const settleStart = (): void => {
    clearTimeout(holdTimer);
    if (headerAsWritten === undefined) return;
    const current = stamps.toString();
    amendHeader(res, TIMING_TRACE_HEADER, headerAsWritten, current);
    headerAsWritten = undefined;
  };

  const describeStart = (args: WriteHeadArguments): AnswerStart => ({
    method: req.method,
    status: Number(args[0]),
    contentType: headerValue(res, args, 'content-type'),
    contentEncoding: headerValue(res, args, 'content-encoding'),
  });

  const read = (chunk: unknown, encoding: unknown): boolean => {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : chunk;
    if (!(bytes instanceof Uint8Array) || bytes.length === 0) return false;
    answer ??= createAnswerReader(start ?? describeStart([res.statusCode]), watch.preset);
    return answer.read(bytes);
  };

  const pass = <T>(chunk: unknown, encoding: unknown, forward: () => T): T => {
    if (inside || closed || res.writableEnded || res.destroyed) return forward();
    if (tokenSeen) {
      // Nothing is to be stamped any more: the chunk leaves first, then it is searched for usage.
      const result = enter(forward);
      if (answer?.goesOn) guarded('internal', () => read(chunk, encoding));
      return result;
    }
    const enteredAtNs = nowNs();
    guarded('internal', () => {
      tokenSeen = read(chunk, encoding);
      if (tokenSeen) stamps.end('serialize', enteredAtNs);
      settleStart();
    });
    const result = enter(forward);
    if (tokenSeen) stamps.end('send');
    return result;
  };

  const addHeaders = (args: WriteHeadArguments): WriteHeadArguments => {
    // Now, not at the first chunk: what compresses below us names its encoding only later, and we read the text above it.
    start = describeStart(args);
    const value = stamps.toString();
    const timed = withHeader(args, TIMING_TRACE_HEADER, value);
    if (timed === args) return args;
    headerAsWritten = value;
    // An app that names the trace itself has its reasons.
    return headerValue(res, args, 'x-trace-id') === '' ? withHeader(timed, TRACE_ID_HEADER, watch.traceId) : timed;
  };

  const releaseStart = (): void => {
    guarded('internal', () => {
      if (closed || res.destroyed || headerAsWritten === undefined) return;
      settleStart();
      flushHeaders.call(res);
    });
  };

  Object.assign(res, {
    writeHead(...args: WriteHeadArguments) {
      if (res.headersSent) return Reflect.apply(writeHead, res, args);
      const withOurs = guarded('internal', () => addHeaders(args)) ?? args;
      const result = Reflect.apply(writeHead, res, withOurs);
      if (!inside && watch.holdMs > 0) holdTimer = setTimeout(releaseStart, watch.holdMs).unref();
      return result;
    },
    flushHeaders() {
      guarded('internal', settleStart);
      return enter(() => flushHeaders.call(res));
    },
    write(...args: unknown[]) {
      return pass(args[0], args[1], () => Reflect.apply(write, res, args));
    },
    end(...args: unknown[]) {
      return pass(args[0], args[1], () => Reflect.apply(end, res, args));
    },
  });

  const close = (): void => {
    if (closed) return;
    closed = true;
    clearTimeout(holdTimer);
    watch.onClosed(answer?.usage() ?? {});
  };
  res.once('finish', close);
  res.once('close', close);
}
