import type { IncomingMessage } from 'node:http';
import type { TraceIdSources } from '../pipeline/traceKey.ts';

/** A header that may stand once: its value, nothing, or two lines of which nobody knows the right one. */
export type SingleHeader = { readonly value: string | null; readonly ambiguous: boolean };

/**
 * Reads a single-value header from the raw list: Node joins two lines with a comma, and what comes out can look valid
 * (`1,2,3` and `4,5,6,7`).
 *
 * @param name lower case
 */
export function singleHeader(request: IncomingMessage, name: string): SingleHeader {
  const joined = request.headers[name];
  // Only a joined value can hide a second line; and Node drops further lines of a few headers by itself.
  if (typeof joined !== 'string') return { value: null, ambiguous: Array.isArray(joined) };
  if (!joined.includes(',')) return { value: joined, ambiguous: false };
  let lines = 0;
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    if (request.rawHeaders[index]!.toLowerCase() === name) lines++;
  }
  return lines > 1 ? { value: null, ambiguous: true } : { value: joined, ambiguous: false };
}

export function traceIdSources(request: IncomingMessage): TraceIdSources {
  const xTraceId = singleHeader(request, 'x-trace-id');
  const traceparent = singleHeader(request, 'traceparent');
  const xRequestId = singleHeader(request, 'x-request-id');
  return {
    xTraceId: xTraceId.value,
    traceparent: traceparent.value,
    xRequestId: xRequestId.value,
    ambiguous: xTraceId.ambiguous || traceparent.ambiguous || xRequestId.ambiguous,
  };
}
