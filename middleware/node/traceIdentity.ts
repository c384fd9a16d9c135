import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseTraceId, parseTraceparent, type Traceparent } from '../../contract/traceId.ts';
import { randomTraceId } from './randomTraceId.ts';

/** Which trace a request belongs to. */
export interface TraceIdentity {
  /** The id as it came, valid and printable: what is echoed and reported, so that every log has the same spelling. */
  readonly given: string;
  /** 32 lower-case hex digits: what joins the halves. */
  readonly key: string;
  /** The caller's span, where a `traceparent` of this trace named one. */
  readonly parentSpanId: string | undefined;
}

/**
 * Reads the id from `X-Trace-ID`, `traceparent`, `X-Request-ID`, and last the query parameter `trace_id`, which is all that an
 * `EventSource` can send. An invalid or doubled one counts as absent; without any, the request gets a random id.
 */
export function identify(req: IncomingMessage): TraceIdentity {
  const parent = parentOf(req);
  return (
    identity(onlyHeader(req, 'x-trace-id'), parent) ??
    identity(parent?.traceId, parent) ??
    identity(onlyHeader(req, 'x-request-id'), parent) ??
    identity(onlyQueryParameter(req, 'trace_id'), parent) ??
    newIdentity()
  );
}

function identity(given: string | undefined, parent: Traceparent | undefined): TraceIdentity | undefined {
  const key = given === undefined ? undefined : keyOf(given);
  if (given === undefined || key === undefined) return undefined;
  // A parent of another trace would leave the span without one.
  return { given, key, parentSpanId: parent?.traceId === key ? parent.parentId : undefined };
}

function newIdentity(): TraceIdentity {
  const key = randomTraceId();
  return { given: key, key, parentSpanId: undefined };
}

function keyOf(given: string): string | undefined {
  const id = parseTraceId(given);
  if (!id.ok) return undefined;
  if (id.value.kind === 'hex') return id.value.key;
  return createHash('sha256').update(id.value.text).digest('hex').slice(0, 32);
}

function parentOf(req: IncomingMessage): Traceparent | undefined {
  const header = onlyHeader(req, 'traceparent');
  const parent = header === undefined ? undefined : parseTraceparent(header);
  return parent?.ok ? parent.value : undefined;
}

/** The raw list shows what the joined header hides: a header on two lines is ambiguous, and counts as absent. */
function onlyHeader(req: IncomingMessage, name: string): string | undefined {
  if (req.headers[name] === undefined) return undefined;
  let value: string | undefined;
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    if (req.rawHeaders[at]!.toLowerCase() !== name) continue;
    if (value !== undefined) return undefined;
    value = req.rawHeaders[at + 1];
  }
  return value;
}

function onlyQueryParameter(req: IncomingMessage, name: string): string | undefined {
  const query = req.url?.indexOf('?') ?? -1;
  if (query < 0) return undefined;
  const values = new URLSearchParams(req.url!.slice(query)).getAll(name);
  return values.length === 1 ? values[0] : undefined;
}
