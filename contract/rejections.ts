/**
 * Why something was refused. The codes are a closed list: the same word is the `code` of an answer, the `reason` label of
 * `firsttoken_ingest_rejected_total` and the case to switch on in a client.
 */
export const REJECTION_CODES = [
  'ambiguous_header',
  'clock_mismatch',
  'forbidden_origin',
  'internal_error',
  'invalid_field',
  'invalid_trace_id',
  'malformed_json',
  'malformed_timing_trace',
  'method_not_allowed',
  'missing_field',
  'no_timing',
  'not_found',
  'not_monotonic',
  'overloaded',
  'rate_limited',
  'request_aborted',
  'store_unavailable',
  'too_late',
  'too_large',
  'too_many_events',
  'unauthorized',
  'unsafe_integer',
  'unstorable',
  'unsupported_encoding',
  'unsupported_media_type',
  'unsupported_version',
] as const;

export type RejectionCode = (typeof REJECTION_CODES)[number];

/** A refusal: what kind, and one sentence that says what to do about it. The sentence never repeats the refused input. */
export interface Rejection {
  readonly code: RejectionCode;
  readonly message: string;
}

/** What a total parser returns: the value, or why there is none. Nothing in `contract/` throws. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly rejection: Rejection };

export function accept<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function reject(code: RejectionCode, message: string): { readonly ok: false; readonly rejection: Rejection } {
  return { ok: false, rejection: { code, message } };
}
