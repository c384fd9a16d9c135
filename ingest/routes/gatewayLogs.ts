import type { IncomingMessage } from 'node:http';
import { accept, type Result } from '../../contract/rejections.ts';
import type { Config } from '../config.ts';
import { sendJson } from '../http/answers.ts';
import { createTokenCheck } from '../http/auth.ts';
import { checkContentType, JSON_TYPES } from '../http/contentType.ts';
import { readBody } from '../http/readBody.ts';
import { type ParsedEvent, parseBody } from '../pipeline/body.ts';
import { type IngestDeps, ingest } from '../pipeline/ingest.ts';
import { linesOfOtlpLogs } from '../pipeline/otlpLogs.ts';
import type { Outcome } from '../pipeline/outcome.ts';
import { validateGatewayLine } from '../pipeline/validateGatewayLine.ts';
import { answerOutcome, type HotRoute, NO_SUCH_METHOD, refuseRequest, UNAUTHORIZED } from './hotRoute.ts';

/** `POST /v1/gateway-logs`: lines of nginx's access log as NDJSON; needs a write token. */
export function gatewayLogsRoute(config: Config, deps: IngestDeps): HotRoute {
  return route(config, deps, JSON_TYPES, parseBody, answerOutcome);
}

/**
 * `POST /v1/logs`: the same lines as OTLP/HTTP logs in JSON, so that a standard collector can ship them. Answers as OTLP does: 200, with
 * `partialSuccess` when some lines were refused; the collector must not send those again.
 */
export function otlpLogsRoute(config: Config, deps: IngestDeps): HotRoute {
  const lines = (body: Buffer): Result<ParsedEvent[]> => {
    const parsed = parseBody(body);
    if (!parsed.ok) return parsed;
    const [first] = parsed.value;
    if (first === undefined) return accept([]);
    return 'rejection' in first ? { ok: false, rejection: first.rejection } : linesOfOtlpLogs(first.value);
  };
  return route(config, deps, OTLP_JSON, lines, (response, outcome) => {
    if (outcome.kind === 'unavailable') return answerOutcome(response, outcome);
    const [first] = outcome.rejected;
    const partial = first && {
      partialSuccess: { rejectedLogRecords: String(outcome.rejected.length), errorMessage: first.message },
    };
    sendJson(response, 200, partial ?? {});
  });
}

const OTLP_JSON: ReadonlySet<string> = new Set(['application/json']);

function route(
  config: Config,
  deps: IngestDeps,
  types: ReadonlySet<string>,
  parse: (body: Buffer) => Result<ParsedEvent[]>,
  answer: (response: Parameters<HotRoute>[1], outcome: Outcome) => void,
): HotRoute {
  const hasToken = createTokenCheck(config.tokens);
  return async (request, response) => {
    const receivedAtMs = Date.now();
    const refuse: (rejection: Parameters<typeof refuseRequest>[4], headers?: Record<string, string>) => void = (
      rejection,
      headers,
    ) => refuseRequest(request, response, deps.metrics, 'gateway_log', rejection, headers);

    if (request.method !== 'POST') return refuse(NO_SUCH_METHOD, { allow: 'POST' });
    if (!hasToken(request)) return refuse(UNAUTHORIZED, { 'www-authenticate': 'Bearer' });
    const events = await readEvents(request, types, parse);
    if (!events.ok) return refuse(events.rejection);
    answer(
      response,
      await ingest(deps, 'gateway_log', events.value, (value) => validateGatewayLine(value, receivedAtMs)),
    );
  };
}

async function readEvents(
  request: IncomingMessage,
  types: ReadonlySet<string>,
  parse: (body: Buffer) => Result<ParsedEvent[]>,
): Promise<Result<ParsedEvent[]>> {
  const type = checkContentType(request.headers['content-type'], types);
  if (!type.ok) return type;
  const body = await readBody(request);
  return body.ok ? parse(body.value) : body;
}
