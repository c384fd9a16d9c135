import { follow } from './follow.ts';
import { watchResponse } from './observeResponse.ts';
import { optionsOf, type TraceOptions } from './settings.ts';
import type { StreamRecord } from './streamRecord.ts';
import { addTraceHeaders, givenTraceId, isSampled, randomHex, TRACE_ID_HEADER } from './traceIdentity.ts';

const fetchAtLoad = globalThis.fetch;

/**
 * `fetch`, observed: the same arguments, the same answer, the same errors. The trace headers are added to requests to the page's
 * own origin and to those in `propagateTo`, and to no other: there they would cost a preflight, and could break the call.
 */
export async function tracedFetch(
  input: RequestInfo | URL,
  init?: RequestInit,
  options?: TraceOptions,
): Promise<Response> {
  const startedAt = performance.now();
  const use = optionsOf(options);
  // An app may have put this function in the place of `fetch` itself.
  const fetch = use.fetch ?? (globalThis.fetch === tracedFetch ? fetchAtLoad : globalThis.fetch);
  const request = input as Partial<Request>;
  let record: StreamRecord | undefined;
  let propagated: boolean | undefined;
  let ask: [RequestInfo | URL, (RequestInit | undefined)?] = [input, init];
  try {
    const { location, document } = globalThis;
    const { href, origin } = new URL(request.url ?? (input as string | URL), document?.baseURI ?? location?.href);
    const headers = new Headers(init?.headers ?? request.headers);
    const traceId = use.traceId ?? givenTraceId(headers) ?? randomHex(32);
    propagated = origin === location?.origin || use.propagateTo?.includes(origin);
    if (propagated) {
      addTraceHeaders(headers, traceId, isSampled(traceId, use.sampleRate));
      if (request.url) {
        // `fetch(request, init)` would reset more of a request than its headers: its referrer policy, for one.
        const copy = new Request(input, init);
        for (const [name, value] of headers) copy.headers.set(name, value);
        ask = [copy];
      } else ask = [input, { ...init, headers }];
    }
    record = follow(traceId, startedAt, { signal: init?.signal ?? request.signal, ...use });
    if (record) {
      record.url = href;
      record.callId ??= headers.get('Idempotency-Key');
    }
  } catch {
    // An address or a header that `fetch` itself will refuse.
  }
  try {
    const response = await fetch(...ask);
    // Who answers a request without our headers may name the trace.
    if (record && !propagated) {
      record.traceId = use.traceId ?? response.headers.get(TRACE_ID_HEADER) ?? record.traceId;
    }
    return watchResponse(response, record);
  } catch (error) {
    record?.end('error', error);
    throw error;
  }
}
