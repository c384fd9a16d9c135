import { createSseReader } from '../contract/sse.ts';
import { observeStream, type StreamOptions } from './follow.ts';
import { watchBody } from './stream.ts';
import type { StreamRecord } from './streamRecord.ts';
import { TRACE_ID_HEADER } from './traceIdentity.ts';

/**
 * Observes the answer of a request that somebody else made. The id is `options.traceId`, else that of the answer's `X-Trace-ID`.
 *
 * @returns the response to go on with: the same in all, but for its body, which is observed. What cannot be observed (one that is
 *   being read, an opaque answer) comes back as it is. Never throws.
 */
export function observeResponse(response: Response, options: StreamOptions): Response {
  const traceId = options.traceId ?? response.headers.get(TRACE_ID_HEADER);
  const record = observeStream({ ...options, traceId });
  if (record) record.url = response.url;
  return watchResponse(response, record);
}

/** Observes into a record that is open already. */
export function watchResponse(response: Response, record: StreamRecord | undefined): Response {
  if (!record) return response;
  try {
    const { status, headers, body } = response;
    const type = headers.get('Content-Type') ?? '';
    const isEvents = type.includes('event-stream');
    record.timingTrace = headers.get('X-Timing-Trace');
    record.serverTiming = headers.get('Server-Timing');
    // What has no body has ended well, without a token.
    record.terminatorSeen = !body;
    let at = 0;
    if (status >= 400) record.end('error');
    else if (!status || response.bodyUsed) record.end('unseen');
    else if (!body) record.end('end');
    else {
      const events = createSseReader((event) => record.take(event, at));
      const observed = watchBody(
        body,
        (bytes) => {
          at = performance.now();
          if (isEvents) events.push(bytes);
          // Raw text bears a token in each piece; a JSON answer is one token-bearing event, when its first bytes arrive.
          else if (bytes.length && !(record.arrivals[0] && type.includes('/json')))
            record.note({ token: true, visible: true }, at);
        },
        (how, error) => {
          // A clean end is the only terminator that raw text has.
          if (how === 'end' && (!isEvents || record.options.tokensOf?.cleanEnd)) {
            record.note({ terminator: true }, performance.now());
          }
          return record.end(how, error);
        },
      );
      return dressAs(response, new Response(observed, response));
    }
  } catch {
    // A body that somebody reads already, or a response that is none of the browser's.
    record.end('unseen');
  }
  return response;
}

/** A response that is made by hand lacks what only the network can set. */
function dressAs(original: Response, made: Response): Response {
  const { clone } = made;
  for (const name of ['url', 'redirected', 'type'] as const) {
    Object.defineProperty(made, name, { value: original[name] });
  }
  made.clone = () => dressAs(original, clone.call(made));
  return made;
}
