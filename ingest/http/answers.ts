import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Rejection, type RejectionCode, reject } from '../../contract/rejections.ts';
import type { ErrorAnswer } from '../../contract/request.ts';

/** The status that goes with a refusal of a whole request. */
const STATUS: Readonly<Record<RejectionCode, number>> = {
  ambiguous_header: 400,
  clock_mismatch: 400,
  forbidden_origin: 403,
  internal_error: 500,
  invalid_field: 400,
  invalid_trace_id: 400,
  malformed_json: 400,
  malformed_timing_trace: 400,
  method_not_allowed: 405,
  missing_field: 400,
  no_timing: 400,
  not_found: 404,
  not_monotonic: 400,
  overloaded: 503,
  rate_limited: 429,
  request_aborted: 400,
  store_unavailable: 503,
  too_late: 400,
  too_large: 413,
  too_many_events: 413,
  unauthorized: 401,
  unsafe_integer: 400,
  unstorable: 400,
  unsupported_encoding: 415,
  unsupported_media_type: 415,
  unsupported_version: 400,
};

export function statusOf(code: RejectionCode): number {
  return STATUS[code];
}

/**
 * Sent with every answer: it is data, for nobody's cache and never to be guessed at. Opened in a browser all the same, it may load, run and
 * be framed by nothing, and tells no other site where it was seen.
 */
export const SECURITY_HEADERS: Readonly<OutgoingHttpHeaders> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

export function sendError(response: ServerResponse, rejection: Rejection, headers: OutgoingHttpHeaders = {}): void {
  const answer: ErrorAnswer = { error: { code: rejection.code, message: rejection.message } };
  sendJson(response, statusOf(rejection.code), answer, headers);
}

export function sendNothing(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  response.writeHead(204, { ...SECURITY_HEADERS, ...headers });
  response.end();
}

/** For whatever the service did not foresee: told only in general, the log has the rest. */
export const INTERNAL_ERROR = reject('internal_error', 'The service failed; its log says why.').rejection;
