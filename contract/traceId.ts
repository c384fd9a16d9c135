import { MAX_TRACE_ID_LENGTH } from './limits.ts';
import { accept, type Result, reject } from './rejections.ts';

/**
 * A trace id as it was read. `hex` is already the 32-digit key that joins the halves of a request. `text` is an id of a
 * foreign form (`chatcmpl-abc123`): its key is the first 16 bytes of the SHA-256 of its characters, which the ingest
 * computes, since this folder has no crypto.
 */
export type TraceId = { readonly kind: 'hex'; readonly key: string } | { readonly kind: 'text'; readonly text: string };

/** How ids are to be read; `datadog` additionally takes a bare decimal number as a 64-bit id. */
export type TraceIdFormat = 'default' | 'datadog';

export interface Traceparent {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex digits, not all zero: the caller's span. */
  readonly parentId: string;
}

const HEX_32 = /^[0-9a-f]{32}$/i;
const HEX_16 = /^[0-9a-f]{16}$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const X_RAY = /^1-([0-9a-f]{8})-([0-9a-f]{24})$/i;
const DECIMAL = /^[0-9]{1,20}$/;
const NOTHING = /^[0 -]*$/;
// Space to tilde: what can stand in a header and in a log line without being escaped.
const PRINTABLE = /^[\x20-\x7e]+$/;
const ALL_ZERO = /^0+$/;
const MAX_UINT_64 = 18_446_744_073_709_551_615n;

const INVALID = reject(
  'invalid_trace_id',
  'A trace id is 32 hex digits, a UUID, 16 hex digits, an X-Ray id, or 1 to 128 printable ASCII characters, and not all zeros.',
);

/**
 * Reads a trace id in any of the accepted spellings. Nothing is repaired or cut: what is none of the known forms is a text id,
 * whole, or `invalid_trace_id`.
 */
export function parseTraceId(text: string, format: TraceIdFormat = 'default'): Result<TraceId> {
  if (text.length > MAX_TRACE_ID_LENGTH || NOTHING.test(text) || !PRINTABLE.test(text)) return INVALID;
  if (format === 'datadog' && DECIMAL.test(text)) {
    const id = BigInt(text);
    return id > MAX_UINT_64 ? INVALID : hexKey(id.toString(16).padStart(32, '0'));
  }
  if (HEX_32.test(text)) return hexKey(text.toLowerCase());
  if (UUID.test(text)) return hexKey(text.replaceAll('-', '').toLowerCase());
  if (HEX_16.test(text)) return hexKey(text.toLowerCase().padStart(32, '0'));
  const xRay = X_RAY.exec(text);
  if (xRay) return hexKey(`${xRay[1]}${xRay[2]}`.toLowerCase());
  return accept({ kind: 'text', text });
}

function hexKey(key: string): Result<TraceId> {
  return ALL_ZERO.test(key) ? INVALID : accept({ kind: 'hex', key });
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header as W3C Trace Context says: version 00 has exactly four fields in lower case; of a later version
 * the first four are read; version ff does not exist.
 * @see https://www.w3.org/TR/trace-context/#versioning-of-traceparent
 */
export function parseTraceparent(header: string): Result<Traceparent> {
  const fields = TRACEPARENT.exec(header.trim());
  const [, version, traceId, parentId, , rest] = fields ?? [];
  if (!traceId || !parentId || version === 'ff' || (version === '00' && rest !== undefined)) return MALFORMED_PARENT;
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(parentId)) return MALFORMED_PARENT;
  return accept({ traceId, parentId });
}

const MALFORMED_PARENT = reject('invalid_trace_id', 'The traceparent header does not follow W3C Trace Context.');

/** A span id: 16 lower-case hex digits, not all zero. */
export function isSpanId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text) && !ALL_ZERO.test(text);
}
