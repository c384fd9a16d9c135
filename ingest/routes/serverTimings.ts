import type { IncomingMessage } from 'node:http';
import { accept, type Result, reject } from '../../contract/rejections.ts';
import type { Config } from '../config.ts';
import { createTokenCheck } from '../http/auth.ts';
import { checkContentType, JSON_TYPES } from '../http/contentType.ts';
import { singleHeader, traceIdSources } from '../http/headers.ts';
import { hasBody, readBody } from '../http/readBody.ts';
import { type ParsedEvent, parseBody } from '../pipeline/body.ts';
import { type IngestDeps, ingest } from '../pipeline/ingest.ts';
import { NO_SOURCES } from '../pipeline/traceKey.ts';
import { type Surroundings, validateServerRecord } from '../pipeline/validate.ts';
import { answerOutcome, type HotRoute, NO_SUCH_METHOD, refuseRequest, UNAUTHORIZED } from './hotRoute.ts';

/** `POST /v1/server-timings`: what servers stamped; needs a write token. A body, or no body and the facts in headers. */
export function serverTimingsRoute(config: Config, deps: IngestDeps): HotRoute {
  const hasToken = createTokenCheck(config.tokens);

  return async (request, response) => {
    const receivedAtMs = Date.now();
    const refuse: (rejection: Parameters<typeof refuseRequest>[4], headers?: Record<string, string>) => void = (
      rejection,
      headers,
    ) => refuseRequest(request, response, deps.metrics, 'server_timing', rejection, headers);

    if (request.method !== 'POST') return refuse(NO_SUCH_METHOD, { allow: 'POST' });
    if (!hasToken(request)) return refuse(UNAUTHORIZED, { 'www-authenticate': 'Bearer' });
    const events = hasBody(request) ? await readEvents(request) : readHeaders(request);
    if (!events.ok) return refuse(events.rejection);
    const surroundings: Surroundings = {
      receivedAtMs,
      traceIds: events.value.length === 1 ? traceIdSources(request) : NO_SOURCES,
      region: null,
      carrier: null,
    };
    const outcome = await ingest(deps, 'server_timing', events.value, (value) =>
      validateServerRecord(value, surroundings),
    );
    answerOutcome(response, outcome);
  };
}

async function readEvents(request: IncomingMessage): Promise<Result<ParsedEvent[]>> {
  const type = checkContentType(request.headers['content-type'], JSON_TYPES);
  if (!type.ok) return type;
  const body = await readBody(request);
  return body.ok ? parseBody(body.value) : body;
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
