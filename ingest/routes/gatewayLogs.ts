import { accept, type Result } from '../../contract/rejections.ts';
import type { Config } from '../config.ts';
import { sendJson } from '../http/answers.ts';
import { JSON_TYPES } from '../http/contentType.ts';
import { type ParsedEvent, parseBody } from '../pipeline/body.ts';
import type { IngestDeps } from '../pipeline/ingest.ts';
import { linesOfOtlpLogs } from '../pipeline/otlpLogs.ts';
import { validateGatewayLine } from '../pipeline/validateGatewayLine.ts';
import { answerOutcome, type HotRoute } from './hotRoute.ts';
import { readEvents, type WriteRoute, writeRoute } from './writeRoute.ts';

const LINES: Pick<WriteRoute, 'kind' | 'validator'> = {
  kind: 'gateway_log',
  validator: (_request, _events, receivedAtMs) => (value) => validateGatewayLine(value, receivedAtMs),
};

/** `POST /v1/gateway-logs`: lines of nginx's access log as NDJSON; needs a write token. */
export function gatewayLogsRoute(config: Config, deps: IngestDeps): HotRoute {
  return writeRoute(config, deps, { ...LINES, read: (request) => readEvents(request, JSON_TYPES, parseBody) });
}

/**
 * `POST /v1/logs`: the same lines as OTLP/HTTP logs in JSON, so that a standard collector can ship them. Answers as OTLP does: 200, with
 * `partialSuccess` when some lines were refused; the collector must not send those again.
 */
export function otlpLogsRoute(config: Config, deps: IngestDeps): HotRoute {
  return writeRoute(config, deps, {
    ...LINES,
    read: (request) => readEvents(request, OTLP_JSON, parseOtlp),
    answer(response, outcome) {
      if (outcome.kind === 'unavailable') return answerOutcome(response, outcome);
      const [first] = outcome.rejected;
      const partial = first && {
        partialSuccess: { rejectedLogRecords: String(outcome.rejected.length), errorMessage: first.message },
      };
      sendJson(response, 200, partial ?? {});
    },
  });
}

const OTLP_JSON: ReadonlySet<string> = new Set(['application/json']);

function parseOtlp(body: Buffer): Result<ParsedEvent[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const [first] = parsed.value;
  if (first === undefined) return accept([]);
  return 'rejection' in first ? { ok: false, rejection: first.rejection } : linesOfOtlpLogs(first.value);
}
