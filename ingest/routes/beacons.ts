import type { IncomingMessage } from 'node:http';
import { MAX_TEXT_LENGTH } from '../../contract/limits.ts';
import { reject } from '../../contract/rejections.ts';
import type { Config } from '../config.ts';
import { sendNothing } from '../http/answers.ts';
import { clientAddress } from '../http/clientAddress.ts';
import { BEACON_TYPES, checkContentType } from '../http/contentType.ts';
import { createOriginCheck, PREFLIGHT_HEADERS } from '../http/cors.ts';
import { traceIdSources } from '../http/headers.ts';
import { RateLimit } from '../http/rate.ts';
import { readBody } from '../http/readBody.ts';
import { parseBody } from '../pipeline/body.ts';
import { type IngestDeps, ingest } from '../pipeline/ingest.ts';
import { cleanText } from '../pipeline/text.ts';
import { NO_SOURCES } from '../pipeline/traceKey.ts';
import { type Surroundings, validateBeacon } from '../pipeline/validate.ts';
import {
  answerOutcome,
  FORBIDDEN_ORIGIN,
  type HotRoute,
  NO_SUCH_METHOD,
  refuserOf,
  withAdmission,
} from './hotRoute.ts';

/** `POST /v1/beacons`: what browsers saw. Public; pages by an allow-list of origins, everybody by a rate. */
export function beaconsRoute(config: Config, deps: IngestDeps): HotRoute {
  const checkOrigin = createOriginCheck(config.beaconOrigins);
  const rate = new RateLimit(config.beaconRate);

  return async (request, response) => {
    const receivedAtMs = Date.now();
    const origin = checkOrigin(request);
    const refuse = refuserOf(request, response, deps.metrics, 'beacon', origin.allowed ? origin.headers : {});

    if (!origin.allowed) return refuse(FORBIDDEN_ORIGIN);
    if (request.method === 'OPTIONS') return sendNothing(response, { ...origin.headers, ...PREFLIGHT_HEADERS });
    if (request.method !== 'POST') return refuse(NO_SUCH_METHOD, { allow: 'POST, OPTIONS' });
    const address = clientAddress(request, config.trustProxyHops);
    const waitSeconds = rate.take(address, 1);
    if (waitSeconds > 0) return refuse(RATE_LIMITED, { 'retry-after': String(waitSeconds) });
    const type = checkContentType(request.headers['content-type'], BEACON_TYPES);
    if (!type.ok) return refuse(type.rejection);
    return withAdmission(deps.admission, request, refuse, async () => {
      const body = await readBody(request);
      if (!body.ok) return refuse(body.rejection);
      const events = parseBody(body.value);
      if (!events.ok) return refuse(events.rejection);
      // The first event was paid for before its body was read.
      const moreSeconds = events.value.length > 1 ? rate.take(address, events.value.length - 1, 1) : 0;
      if (moreSeconds > 0) return refuse(RATE_LIMITED, { 'retry-after': String(moreSeconds) });

      const surroundings: Surroundings = {
        receivedAtMs,
        traceIds: events.value.length === 1 ? traceIdSources(request) : NO_SOURCES,
        region: operatorHeader(request, config.regionHeader),
        carrier: operatorHeader(request, config.carrierHeader),
      };
      const outcome = await ingest(deps, 'beacon', events.value, (value) => validateBeacon(value, surroundings));
      answerOutcome(response, outcome, origin.headers);
    });
  };
}

/** A word from a header that the operator's own CDN or proxy sets. */
function operatorHeader(request: IncomingMessage, name: string | null): string | null {
  const value = name === null ? undefined : request.headers[name];
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH ? cleanText(value.trim()) : null;
}

const RATE_LIMITED = reject('rate_limited', 'Too many events from this address; wait as Retry-After says.').rejection;
