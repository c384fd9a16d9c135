import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import {
  BEACON_SCHEMA,
  BEACON_VERSION,
  type Beacon,
  CONNECTIONS,
  type Connection,
  DEVICES,
  type Device,
  type TokenSource,
} from '../../contract/beacon.ts';
import { FLAG_BITS } from '../../contract/flags.ts';
import { MAX_STARTED_AFTER_MS, MAX_STARTED_BEFORE_MS } from '../../contract/limits.ts';
import { accept, type Rejection, type Result, reject } from '../../contract/rejections.ts';
import { SERVER_RECORD_SCHEMA, type ServerRecord } from '../../contract/serverRecord.ts';
import type { ClientHalf, ServerHalf, TraceKey } from './half.ts';
import { readServerTimes, type ServerTimes } from './serverStages.ts';
import { measureStream } from './streamMeasures.ts';
import { cleanText } from './text.ts';
import { type TraceIdSources, traceKeyOf } from './traceKey.ts';

const ajv = new Ajv({ strict: true, allowUnionTypes: true, ownProperties: true });
const isBeacon = ajv.compile<Beacon>(BEACON_SCHEMA);
const isServerRecord = ajv.compile<ServerRecord>(SERVER_RECORD_SCHEMA);

/** What the request around an event says about it. */
export interface Surroundings {
  readonly receivedAtMs: number;
  /** Ids from the headers, used where the event's body names none. */
  readonly traceIds: TraceIdSources;
  /** From the operator's headers; null where none is named or the header is absent. */
  readonly region: string | null;
  readonly carrier: string | null;
}

/** Checks one parsed JSON value as a beacon and reads it into a client half, with an echoed server half inside. */
export function validateBeacon(value: unknown, surroundings: Surroundings): Result<ClientHalf> {
  const prepared = prepare(value, isBeacon, surroundings);
  if (!prepared.ok) return prepared;
  const { event: beacon, key } = prepared.value;
  if (beacon.v !== BEACON_VERSION) return WRONG_VERSION;
  const falling = findFallingOffset(beacon);
  if (falling !== null) return { ok: false, rejection: falling };

  const { receivedAtMs } = surroundings;
  const startedAtMs = beacon.since_start_ms == null ? null : receivedAtMs - beacon.since_start_ms;
  let echo: ServerHalf | null = null;
  if (beacon.timing_trace != null || beacon.server_timing != null) {
    const times = readServerTimes(beacon.timing_trace ?? null, beacon.server_timing ?? null, null);
    if (!times.ok) return times;
    if (hasMeasurement(times.value))
      echo = serverHalf(key, 'echo', times.value, NO_RECORD, receivedAtMs, startedAtMs, false);
  }

  const measures = measureStream(beacon);
  const [flagMask, flagBits] = readFlags(beacon, measures.firstTokensUnknown);
  const region = surroundings.region ?? cleanText(beacon.region);
  const counted = countTokens(beacon);
  return accept({
    kind: 'client',
    ...key,
    receivedAtMs,
    startedAtMs,
    startedAtReplaced: false,
    seq: beacon.seq ?? 0,
    status: beacon.status,
    ttftMs: beacon.ttft_ms ?? beacon.arrivals_ms?.[0] ?? null,
    ttftVisibleMs: beacon.ttft_visible_ms ?? null,
    endMs: beacon.end_ms ?? null,
    arrivalsMs: beacon.arrivals_ms ?? null,
    chunkTokens: beacon.chunk_tokens ?? null,
    measures,
    outputTokens: counted.tokens,
    outputTokensSource: counted.source,
    flagMask,
    flagBits,
    renderFirstMs: beacon.render?.first_ms ?? null,
    renderP50Ms: beacon.render?.p50_ms ?? null,
    renderMaxMs: beacon.render?.max_ms ?? null,
    connectionDnsMs: beacon.connection_ms?.dns ?? null,
    connectionTcpMs: beacon.connection_ms?.tcp ?? null,
    connectionTlsMs: beacon.connection_ms?.tls ?? null,
    connectionWaitMs: beacon.connection_ms?.wait ?? null,
    model: cleanText(beacon.model),
    route: cleanText(beacon.route),
    variant: cleanText(beacon.variant),
    tier: cleanText(beacon.tier),
    promptTokens: beacon.prompt_tokens ?? null,
    promptChars: beacon.prompt_chars ?? null,
    region,
    regionTrusted: surroundings.region !== null,
    carrier: surroundings.carrier ?? cleanText(beacon.carrier),
    device: oneOf<Device>(DEVICES, beacon.device),
    connection: oneOf<Connection>(CONNECTIONS, beacon.connection),
    callId: cleanText(beacon.call_id),
    echo,
  });
}

/** Checks one parsed JSON value as a server record and reads it into a direct server half. */
export function validateServerRecord(value: unknown, surroundings: Surroundings): Result<ServerHalf> {
  const prepared = prepare(value, isServerRecord, surroundings);
  if (!prepared.ok) return prepared;
  const { event: record, key } = prepared.value;
  if (record.timing_trace == null && record.server_timing == null) return NO_TIMING;
  const times = readServerTimes(record.timing_trace ?? null, record.server_timing ?? null, record.sub_stages ?? null);
  if (!times.ok) return times;
  // A Server-Timing without one usable duration says nothing about time.
  if (record.timing_trace == null && !hasMeasurement(times.value)) return NO_TIMING;

  const { receivedAtMs } = surroundings;
  let startedAtMs: number | null = null;
  let replaced = false;
  if (record.started_at != null) {
    const stated = parseInstant(record.started_at);
    if (stated === null) return BAD_INSTANT;
    if (stated < startOfYesterday(receivedAtMs)) return TOO_LATE;
    replaced = stated < receivedAtMs - MAX_STARTED_BEFORE_MS || stated > receivedAtMs + MAX_STARTED_AFTER_MS;
    startedAtMs = replaced ? receivedAtMs : stated;
  }
  return accept(serverHalf(key, 'direct', times.value, record, receivedAtMs, startedAtMs, replaced));
}

function serverHalf(
  key: TraceKey,
  source: ServerHalf['source'],
  times: ServerTimes,
  record: Omit<ServerRecord, 'trace_id'>,
  receivedAtMs: number,
  startedAtMs: number | null,
  startedAtReplaced: boolean,
): ServerHalf {
  return {
    kind: 'server',
    ...key,
    receivedAtMs,
    startedAtMs,
    startedAtReplaced,
    source,
    ...times,
    model: cleanText(record.model),
    route: cleanText(record.route),
    variant: cleanText(record.variant),
    tier: cleanText(record.tier),
    backend: cleanText(record.backend),
    promptTokens: record.prompt_tokens ?? null,
    cachedTokens: record.cached_tokens ?? null,
    outputTokens: record.output_tokens ?? null,
    quantization: cleanText(record.quantization),
    decoding: cleanText(record.decoding),
    temperature: record.temperature ?? null,
    topK: record.top_k ?? null,
    batchSize: record.batch_size ?? null,
    status: record.status ?? null,
    parentSpanId: record.parent_span_id ?? null,
  };
}

const NO_RECORD = {};

/** Finds the key (body first, then the headers) and holds the rest against the schema. */
function prepare<T extends { trace_id: string }>(
  value: unknown,
  matches: ValidateFunction<T>,
  surroundings: Surroundings,
): Result<{ event: T; key: TraceKey }> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NO_OBJECT;
  const given = Object.hasOwn(value, 'trace_id') ? (value as { trace_id: unknown }).trace_id : null;
  const format = Object.hasOwn(value, 'trace_id_format')
    ? (value as { trace_id_format: unknown }).trace_id_format
    : null;
  const key = traceKeyOf(given, format === 'datadog' ? 'datadog' : 'default', surroundings.traceIds);
  if (!key.ok) return key;
  const event = given == null ? { ...value, trace_id: key.value.key } : value;
  if (!matches(event)) return { ok: false, rejection: explain(matches.errors?.[0]) };
  return accept({ event, key: key.value });
}

/** Says which field is wrong and how; a name that the sender chose (of a sub-stage, say) is not repeated. */
function explain(error: ErrorObject | undefined): Rejection {
  if (error?.keyword === 'required') {
    return { code: 'missing_field', message: `The field ${error.params['missingProperty']} is required.` };
  }
  const field = error?.instancePath.split('/')[1];
  const kind = error?.keyword === 'enum' ? 'is not one of the allowed values' : (error?.message ?? 'is wrong');
  return {
    code: field === 'timing_trace' ? 'malformed_timing_trace' : 'invalid_field',
    message: field ? `The field ${field} is wrong: a value ${kind}.` : `The event ${kind}.`,
  };
}

/** The arrivals rise, the first of them is the TTFT, and what comes later is not earlier. */
function findFallingOffset(beacon: Beacon): Rejection | null {
  const arrivals = beacon.arrivals_ms ?? [];
  for (let event = 1; event < arrivals.length; event++) {
    if (arrivals[event]! < arrivals[event - 1]!)
      return field('arrivals_ms', 'an offset is lower than the one before it');
  }
  const first = arrivals[0];
  const last = arrivals.at(-1) ?? beacon.gap_stats?.last_token_ms;
  if (beacon.chunk_tokens != null && beacon.chunk_tokens.length !== arrivals.length) {
    return field('chunk_tokens', 'it must have one entry for each entry of arrivals_ms');
  }
  if (first !== undefined && beacon.ttft_ms != null && Math.abs(beacon.ttft_ms - first) > ROUNDING_MS) {
    return field('ttft_ms', 'it must equal the first entry of arrivals_ms');
  }
  const ttftMs = beacon.ttft_ms ?? first;
  if (ttftMs != null && last != null && last < ttftMs - ROUNDING_MS) {
    return field('gap_stats', 'last_token_ms is lower than ttft_ms');
  }
  if (ttftMs != null && beacon.ttft_visible_ms != null && beacon.ttft_visible_ms < ttftMs - ROUNDING_MS) {
    return field('ttft_visible_ms', 'it is lower than ttft_ms');
  }
  const latest = last ?? ttftMs;
  if (latest != null && beacon.end_ms != null && beacon.end_ms < latest - ROUNDING_MS) {
    return field('end_ms', 'it is lower than the arrival of the last token');
  }
  return null;
}

/** Clients round each figure for itself. */
const ROUNDING_MS = 1;

function field(name: string, why: string): Rejection {
  return { code: 'invalid_field', message: `The field ${name} is wrong: ${why}.` };
}

/** The client's own count; else the tokens of its chunks, else its events, each of which bears at least one. */
function countTokens(beacon: Beacon): { tokens: number | null; source: TokenSource | null } {
  const { output_tokens: tokens, output_tokens_source: source, chunk_tokens: chunks, arrivals_ms: arrivals } = beacon;
  if (tokens != null) return { tokens, source: source ?? null };
  if (chunks != null) return { tokens: chunks.reduce((sum, each) => sum + each, 0), source: 'chunks' };
  return arrivals == null ? { tokens: null, source: null } : { tokens: arrivals.length, source: 'events' };
}

function readFlags(beacon: Beacon, firstTokensUnknown: boolean): [mask: number, bits: number] {
  let mask: number = FLAG_BITS.first_tokens_unknown;
  let bits = firstTokensUnknown ? FLAG_BITS.first_tokens_unknown : 0;
  for (const name of ['coalesced', 'suspended', 'hidden'] as const) {
    if (beacon[name] == null) continue;
    mask |= FLAG_BITS[name];
    if (beacon[name]) bits |= FLAG_BITS[name];
  }
  return [mask, bits];
}

function hasMeasurement(times: ServerTimes): boolean {
  return times.stampCount > 0 || times.subStagesNs !== null || Object.values(times.stagesNs).some((ns) => ns !== null);
}

function oneOf<T extends string>(values: readonly T[], text: string | null | undefined): T | null {
  if (text == null) return null;
  return values.find((value) => value === text) ?? values[values.length - 1]!;
}

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[Tt ](?!24)\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** RFC 3339 to epoch milliseconds; null also for a day that its month does not have, which `Date` would move on. */
function parseInstant(text: string): number | null {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  const ms = Date.parse(text);
  if (day === undefined || !Number.isFinite(ms)) return null;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day) ? ms : null;
}

/** Older halves would need a partition that is no longer searched for their partner. */
function startOfYesterday(nowMs: number): number {
  const DAY_MS = 86_400_000;
  return Math.floor(nowMs / DAY_MS) * DAY_MS - DAY_MS;
}

const NO_OBJECT = reject('malformed_json', 'An event is a JSON object.');
const WRONG_VERSION = reject('unsupported_version', `This service reads beacons of version ${BEACON_VERSION}.`);
const NO_TIMING = reject('no_timing', 'A server record needs timing_trace or a server_timing with a usable duration.');
const BAD_INSTANT = reject('invalid_field', 'The field started_at is wrong: it must be an RFC 3339 time.');
const TOO_LATE = reject(
  'too_late',
  'The request began before yesterday (UTC); its other half is no longer looked for.',
);
