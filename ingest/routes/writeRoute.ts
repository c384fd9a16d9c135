import type { IncomingMessage } from 'node:http';
import type { EventKind } from '../../contract/metrics.ts';
import type { Result } from '../../contract/rejections.ts';
import type { Config } from '../config.ts';
import { createTokenCheck } from '../http/auth.ts';
import { checkContentType } from '../http/contentType.ts';
import { readBody } from '../http/readBody.ts';
import type { ParsedEvent } from '../pipeline/body.ts';
import type { Half } from '../pipeline/half.ts';
import { type IngestDeps, ingest } from '../pipeline/ingest.ts';
import { answerOutcome, type HotRoute, NO_SUCH_METHOD, refuserOf, UNAUTHORIZED, withAdmission } from './hotRoute.ts';

/** What differs between the addresses that take events with a write token. */
export interface WriteRoute {
  readonly kind: EventKind;
  read(request: IncomingMessage): Promise<Result<ParsedEvent[]>>;
  /** @param receivedAtMs epoch milliseconds */
  validator(
    request: IncomingMessage,
    events: readonly ParsedEvent[],
    receivedAtMs: number,
  ): (value: unknown) => Result<Half>;
  readonly answer?: typeof answerOutcome;
}

/** A `POST` with a write token: method, token, events, their way through the pipeline, answer. */
export function writeRoute(config: Config, deps: IngestDeps, route: WriteRoute): HotRoute {
  const hasToken = createTokenCheck(config.tokens);
  const answer = route.answer ?? answerOutcome;
  return async (request, response) => {
    const receivedAtMs = Date.now();
    const refuse = refuserOf(request, response, deps.metrics, route.kind);
    if (request.method !== 'POST') return refuse(NO_SUCH_METHOD, { allow: 'POST' });
    if (!hasToken(request)) return refuse(UNAUTHORIZED, { 'www-authenticate': 'Bearer' });
    return withAdmission(deps.admission, request, refuse, async () => {
      const events = await route.read(request);
      if (!events.ok) return refuse(events.rejection);
      const validate = route.validator(request, events.value, receivedAtMs);
      answer(response, await ingest(deps, route.kind, events.value, validate));
    });
  };
}

/** The events of a body of one of these types. */
export async function readEvents(
  request: IncomingMessage,
  types: ReadonlySet<string>,
  parse: (body: Buffer) => Result<ParsedEvent[]>,
): Promise<Result<ParsedEvent[]>> {
  const type = checkContentType(request.headers['content-type'], types);
  if (!type.ok) return type;
  const body = await readBody(request);
  return body.ok ? parse(body.value) : body;
}
