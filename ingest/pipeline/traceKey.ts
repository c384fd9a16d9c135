import { createHash } from 'node:crypto';
import { accept, type Result, reject } from '../../contract/rejections.ts';
import { parseTraceId, parseTraceparent, type TraceIdFormat } from '../../contract/traceId.ts';
import type { TraceKey } from './half.ts';

/** Ids that the headers of a post bring, in the order in which they are tried; null where a header is absent. */
export interface TraceIdSources {
  readonly xTraceId: string | null;
  readonly traceparent: string | null;
  readonly xRequestId: string | null;
  /** One of the headers stood on two lines: it names no request for sure. */
  readonly ambiguous: boolean;
}

/** For events of a batch: one header cannot name many requests. */
export const NO_SOURCES: TraceIdSources = { xTraceId: null, traceparent: null, xRequestId: null, ambiguous: false };

/**
 * The key that joins the halves of a request. An id in the body counts alone: when it is invalid the event is refused. An invalid
 * header counts as absent, and the next one is tried.
 */
export function traceKeyOf(bodyId: unknown, format: TraceIdFormat, headers: TraceIdSources): Result<TraceKey> {
  if (bodyId != null) return typeof bodyId === 'string' ? readKey(bodyId, format) : NOT_TEXT;
  if (headers.xTraceId !== null) {
    const read = readKey(headers.xTraceId, 'default');
    if (read.ok) return read;
  }
  if (headers.traceparent !== null) {
    const read = parseTraceparent(headers.traceparent);
    if (read.ok) return accept({ key: read.value.traceId, ref: null });
  }
  if (headers.xRequestId !== null) {
    const read = readKey(headers.xRequestId, 'default');
    if (read.ok) return read;
  }
  return headers.ambiguous ? AMBIGUOUS : MISSING;
}

export function readKey(text: string, format: TraceIdFormat): Result<TraceKey> {
  const read = parseTraceId(text, format);
  if (!read.ok) return read;
  const key = read.value.kind === 'hex' ? read.value.key : keyOfText(read.value.text);
  return accept({ key, ref: key === text ? null : text });
}

/** Ids of foreign forms join by the first 16 bytes of their SHA-256. */
function keyOfText(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 32);
}

const NOT_TEXT = reject('invalid_trace_id', 'The field trace_id must be a string.');
const MISSING = reject(
  'missing_field',
  'The field trace_id is required (or, for a single event, one of X-Trace-ID, traceparent, X-Request-ID).',
);
const AMBIGUOUS = reject('ambiguous_header', 'The trace id header stands on two lines; it must be sent once.');
