import type { IncomingMessage } from 'node:http';
import { accept, type Result, reject } from '../../contract/rejections.ts';
import type { Config } from '../config.ts';
import { JSON_TYPES } from '../http/contentType.ts';
import { singleHeader, traceIdSources } from '../http/headers.ts';
import { hasBody } from '../http/readBody.ts';
import { type ParsedEvent, parseBody } from '../pipeline/body.ts';
import type { IngestDeps } from '../pipeline/ingest.ts';
import { NO_SOURCES } from '../pipeline/traceKey.ts';
import { type Surroundings, validateServerRecord } from '../pipeline/validate.ts';
import type { HotRoute } from './hotRoute.ts';
import { readEvents, writeRoute } from './writeRoute.ts';

/** `POST /v1/server-timings`: what servers stamped; needs a write token. A body, or no body and the facts in headers. */
export function serverTimingsRoute(config: Config, deps: IngestDeps): HotRoute {
  return writeRoute(config, deps, {
    kind: 'server_timing',
    read: async (request) => (hasBody(request) ? readEvents(request, JSON_TYPES, parseBody) : readHeaders(request)),
    validator(request, events, receivedAtMs) {
      const surroundings: Surroundings = {
        receivedAtMs,
        traceIds: events.length === 1 ? traceIdSources(request) : NO_SOURCES,
        region: null,
        carrier: null,
      };
      return (value) => validateServerRecord(value, surroundings);
    },
  });
}

/** `Server-Timing` is a list, so its lines may be joined; `X-Timing-Trace` is one value. */
function readHeaders(request: IncomingMessage): Result<ParsedEvent[]> {
  const trace = singleHeader(request, 'x-timing-trace');
  if (trace.ambiguous) return AMBIGUOUS;
  const serverTiming = request.headers['server-timing'];
  const joined = Array.isArray(serverTiming) ? serverTiming.join(', ') : serverTiming;
  return accept([{ value: { timing_trace: trace.value, server_timing: joined ?? null } }]);
}

const AMBIGUOUS = reject('ambiguous_header', 'X-Timing-Trace stands on two lines; it must be sent once.');
