import { MAX_BODY_BYTES, MAX_EVENTS } from '../contract/limits.ts';
import { REJECTION_CODES, type RejectionCode } from '../contract/rejections.ts';
import { statusOf } from '../ingest/http/answers.ts';
import { reference, type Schema } from './schema.ts';

/** What one address takes and answers. The rest of the document is made of these. */
export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post' | 'options';
  readonly id: string;
  readonly summary: string;
  readonly port: 'public' | 'admin' | 'both';
  readonly needsToken: boolean;
  /** Content types of the body and the schema of each; absent where no body is read. */
  readonly body?: Readonly<Record<string, Schema>>;
  readonly bodyIsOptional?: true;
  /** Names of request headers that are read, with what for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly good: {
    readonly status: number;
    readonly description: string;
    readonly content?: Readonly<Record<string, Schema>>;
  };
  /** Answers with another body than an error's. */
  readonly others?: Readonly<Record<number, { readonly description: string; readonly schema: Schema }>>;
  /** Refusals of the whole request. */
  readonly codes: readonly RejectionCode[];
}

const LIMITS = `At most ${MAX_EVENTS.toLocaleString('en-US')} events and ${MAX_BODY_BYTES.toLocaleString('en-US')} bytes after inflating.`;

const GZIP = { 'Content-Encoding': 'gzip, or absent' };
const IDS = {
  'X-Trace-ID': 'the id of a single event without `trace_id`',
  traceparent: 'the same, by W3C Trace Context',
  'X-Request-ID': 'the same, last',
};

/** An object, a list of them, or one on each line. */
function events(name: string): Record<string, Schema> {
  const event = reference(name);
  return {
    'application/json': { anyOf: [event, { type: 'array', maxItems: MAX_EVENTS, items: event }] },
    'application/x-ndjson': { type: 'string', description: 'an object on each line; blank lines are skipped' },
  };
}

const EVENT_CODES: readonly RejectionCode[] = [
  'ambiguous_header',
  'clock_mismatch',
  'invalid_field',
  'invalid_trace_id',
  'malformed_json',
  'malformed_timing_trace',
  'missing_field',
  'no_timing',
  'not_monotonic',
  'too_late',
  'unsafe_integer',
  'unstorable',
];
/** Too much, of a kind that is not read, or at a moment when it cannot be kept: whichever codes say so. */
const BODY_CODES: readonly RejectionCode[] = [
  'request_aborted',
  ...REJECTION_CODES.filter((code) => [413, 415, 503].includes(statusOf(code))),
];

const TAKEN = {
  status: 202,
  description: 'At least one event was taken; what was taken is durable. Sending it again changes nothing.',
  content: { 'application/json': reference('AcceptedAnswer') },
};

export const OPERATIONS: readonly Operation[] = [
  {
    path: '/v1/server-timings',
    method: 'post',
    id: 'postServerTimings',
    summary: `Server halves: what servers stamped. ${LIMITS} Or no body, and the facts of one request in headers.`,
    port: 'public',
    needsToken: true,
    body: events('ServerRecord'),
    bodyIsOptional: true,
    headers: {
      ...GZIP,
      ...IDS,
      'X-Timing-Trace': 'without a body: the seven stamps, nanoseconds of one monotonic clock',
      'Server-Timing': 'without a body: named stages, milliseconds',
    },
    good: TAKEN,
    codes: [...EVENT_CODES, ...BODY_CODES, 'unauthorized'],
  },
  {
    path: '/v1/beacons',
    method: 'post',
    id: 'postBeacons',
    summary: `Client halves: what browsers and other readers of a stream saw. ${LIMITS} Public; pages by their origin.`,
    port: 'public',
    needsToken: false,
    body: {
      'text/plain': {
        type: 'string',
        contentMediaType: 'application/json',
        contentSchema: reference('Beacon'),
        description: 'what navigator.sendBeacon sends: the same JSON, or an object on each line',
      },
      ...events('Beacon'),
    },
    headers: { ...GZIP, ...IDS, Origin: 'must be listed in BEACON_ORIGINS where it is sent' },
    good: TAKEN,
    codes: [...EVENT_CODES, 'unsupported_version', ...BODY_CODES, 'forbidden_origin', 'rate_limited'],
  },
  {
    path: '/v1/beacons',
    method: 'options',
    id: 'preflightBeacons',
    summary: 'What a browser asks before it posts.',
    port: 'public',
    needsToken: false,
    headers: { Origin: 'must be listed in BEACON_ORIGINS' },
    good: { status: 204, description: 'The origin may post.' },
    codes: ['forbidden_origin'],
  },
  {
    path: '/v1/gateway-logs',
    method: 'post',
    id: 'postGatewayLogs',
    summary: `Gateway halves: lines of nginx's access log. ${LIMITS}`,
    port: 'public',
    needsToken: true,
    body: events('GatewayLogLine'),
    headers: GZIP,
    good: TAKEN,
    codes: ['invalid_field', 'invalid_trace_id', 'malformed_json', 'missing_field', ...BODY_CODES, 'unauthorized'],
  },
  {
    path: '/v1/logs',
    method: 'post',
    id: 'postOtlpLogs',
    summary: 'The same lines as OTLP/HTTP logs in JSON, for a standard collector.',
    port: 'public',
    needsToken: true,
    body: { 'application/json': reference('OtlpLogs') },
    headers: GZIP,
    good: {
      status: 200,
      description: 'What was taken is durable; what was refused must not be sent again.',
      content: { 'application/json': reference('OtlpLogsAnswer') },
    },
    codes: ['malformed_json', ...BODY_CODES, 'unauthorized'],
  },
  {
    path: '/v1/requests/{trace_id}',
    method: 'get',
    id: 'getRequest',
    summary:
      'One request, joined as far as its halves have come. The id may be spelled in any way but as a Datadog number.',
    port: 'public',
    needsToken: true,
    good: {
      status: 200,
      description: 'What is known of it.',
      content: { 'application/json': reference('RequestAnswer') },
    },
    codes: ['invalid_trace_id', 'unauthorized', 'not_found', 'store_unavailable'],
  },
  {
    path: '/metrics',
    method: 'get',
    id: 'getMetrics',
    summary: 'The metrics. OpenMetrics with exemplars for those who ask for it, else the Prometheus text format.',
    port: 'admin',
    needsToken: false,
    headers: { Accept: '`application/openmetrics-text` for OpenMetrics' },
    good: {
      status: 200,
      description: 'All of them.',
      content: { 'text/plain': { type: 'string' }, 'application/openmetrics-text': { type: 'string' } },
    },
    codes: [],
  },
  {
    path: '/healthz',
    method: 'get',
    id: 'getHealth',
    summary: 'Whether the process runs.',
    port: 'both',
    needsToken: false,
    good: { status: 200, description: 'It does.', content: { 'application/json': reference('HealthAnswer') } },
    codes: [],
  },
  {
    path: '/readyz',
    method: 'get',
    id: 'getReadiness',
    summary: 'Whether events can be made durable now, in PostgreSQL or, while it is away, in the spool.',
    port: 'both',
    needsToken: false,
    good: { status: 200, description: 'They can.', content: { 'application/json': reference('ReadyAnswer') } },
    others: { 503: { description: 'They cannot; send traffic elsewhere.', schema: reference('ReadyAnswer') } },
    codes: [],
  },
];
