import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { EventKind } from '../../contract/metrics.ts';
import { type Rejection, reject } from '../../contract/rejections.ts';
import type { AcceptedAnswer, ErrorAnswer } from '../../contract/request.ts';
import type { Admission } from '../http/admission.ts';
import { sendError, sendJson, statusOf } from '../http/answers.ts';
import type { Outcome } from '../pipeline/outcome.ts';
import type { Metrics } from '../registry.ts';

/** A handler on the thin path in front of Express. Must answer every request and never throw. */
export type HotRoute = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Seconds after which a post that could not be stored is worth another try. */
const RETRY_AFTER_SECONDS = 2;
/** What of a refused body is still read before the connection is closed, so that the sender can read the answer. */
const MAX_DRAINED_BYTES = 4_194_304;

export const NO_SUCH_METHOD = reject('method_not_allowed', 'This address takes POST.').rejection;
export const UNAUTHORIZED = reject(
  'unauthorized',
  'A write token is needed: Authorization: Bearer <one of INGEST_TOKEN>.',
).rejection;
export const FORBIDDEN_ORIGIN = reject(
  'forbidden_origin',
  'Pages of this origin may not post here; add it to BEACON_ORIGINS.',
).rejection;
const UNAVAILABLE = reject(
  'store_unavailable',
  'The events could not be made durable; send them again later.',
).rejection;

const OVERLOADED = reject(
  'overloaded',
  'More is under way than the service can take at once; send the events again later.',
).rejection;

/** Runs `work` if there is room for the request's body, and refuses it unread otherwise. */
export async function withAdmission(
  admission: Admission,
  request: IncomingMessage,
  refuse: Refuse,
  work: () => Promise<void>,
): Promise<void> {
  const bytes = admission.enter(request);
  if (bytes === null) return refuse(OVERLOADED, { 'retry-after': String(RETRY_AFTER_SECONDS) });
  try {
    await work();
  } finally {
    admission.leave(bytes);
  }
}

/** Refuses a whole request, and counts it. */
export type Refuse = (rejection: Rejection, headers?: OutgoingHttpHeaders) => void;

/** @param always headers that go with every refusal of this request */
export function refuserOf(
  request: IncomingMessage,
  response: ServerResponse,
  metrics: Metrics,
  kind: EventKind,
  always: OutgoingHttpHeaders = {},
): Refuse {
  return (rejection, own) => {
    const headers = { ...always, ...own };
    metrics.rejected.inc([kind, rejection.code]);
    if (request.complete) return sendError(response, rejection, headers);
    drain(request);
    sendError(response, rejection, { ...headers, connection: 'close' });
  };
}

/** The rest of a refused body is nobody's: read a little of it so that the answer gets through, then let go. */
function drain(request: IncomingMessage): void {
  let drained = 0;
  request.removeAllListeners('data');
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > MAX_DRAINED_BYTES) request.destroy();
  });
  request.on('error', () => {});
  request.resume();
}

/** Answers a post whose events have gone their way. */
export function answerOutcome(response: ServerResponse, outcome: Outcome, headers: OutgoingHttpHeaders = {}): void {
  if (outcome.kind === 'unavailable') {
    return sendError(response, outcome.overloaded ? OVERLOADED : UNAVAILABLE, {
      ...headers,
      'retry-after': String(RETRY_AFTER_SECONDS),
    });
  }
  const { accepted, rejected } = outcome;
  const first = rejected[0];
  if (accepted === 0 && first !== undefined) {
    const answer: ErrorAnswer = { error: { code: first.code, message: first.message }, rejected };
    return sendJson(response, statusOf(first.code), answer, headers);
  }
  const answer: AcceptedAnswer = { accepted, rejected };
  sendJson(response, 202, answer, headers);
}
