import { flagsOf } from '../../contract/flags.ts';
import { SPAN_ATTRIBUTES, SPAN_OPERATION } from '../../contract/spans.ts';
import { hasClientHalf, hasServerHalf, isJoined, type RequestRow } from '../pipeline/row.ts';
import { asciiJson } from './asciiJson.ts';
import { failureOf } from './failure.ts';

type Columns<T> = { [K in keyof RequestRow]: RequestRow[K] extends T | null ? K : never }[keyof RequestRow];

const NAMES = SPAN_ATTRIBUTES;

const TEXTS = [
  ['model', NAMES.model],
  ['route', NAMES.route],
  ['backend', NAMES.serverAddress],
  ['status', NAMES.status],
  ['server_source', NAMES.serverSource],
  ['ttft_basis', NAMES.ttftBasis],
  ['variant', NAMES.variant],
  ['tier', NAMES.tier],
  ['region', NAMES.region],
  ['carrier', NAMES.carrier],
  ['device', NAMES.device],
  ['connection', NAMES.connection],
  ['quantization', NAMES.quantization],
  ['decoding', NAMES.decoding],
  ['call_id', NAMES.callId],
  ['trace_ref', NAMES.traceRef],
] as const satisfies readonly (readonly [Columns<string>, string])[];

const INTEGERS = [
  ['prompt_tokens', NAMES.inputTokens],
  ['cached_tokens', NAMES.cachedTokens],
  ['batch_size', NAMES.batchSize],
] as const satisfies readonly (readonly [Columns<number>, string])[];

/** Some are kept in single precision: rounded to what both precisions agree on, a second export says the same as the first. */
const DECIMALS = [
  ['temperature', NAMES.temperature],
  ['top_k', NAMES.topK],
  ['ttft_visible_ms', NAMES.ttftVisible],
  ['tpot_ms', NAMES.tpot],
  ['gap_max_ms', NAMES.gapMax],
] as const satisfies readonly (readonly [Columns<number>, string])[];

const head = (name: string): string => `{"key":${asciiJson(name)},"value":`;

export function textAttribute(name: string, value: string): string {
  return `${head(name)}{"stringValue":${asciiJson(value)}}}`;
}
export function booleanAttribute(name: string, value: boolean): string {
  return `${head(name)}{"boolValue":${value}}}`;
}

/*
 * Everything before a value is put together once: the fewer the pieces, the sooner they are one text. 64-bit integers are strings
 * in the JSON of protocol buffers.
 */
const textHead = (name: string): string => `,${head(name)}{"stringValue":`;
const TEXT_TAIL = '}}';
const integerHead = (name: string): string => `,${head(name)}{"intValue":"`;
const INTEGER_TAIL = '"}}';
const decimalHead = (name: string): string => `,${head(name)}{"doubleValue":`;
const DECIMAL_TAIL = '}}';

const TEXT_HEADS = TEXTS.map(([column, name]) => ({ column, head: textHead(name) }));
const INTEGER_HEADS = INTEGERS.map(([column, name]) => ({ column, head: integerHead(name) }));
const DECIMAL_HEADS = DECIMALS.map(([column, name]) => ({ column, head: decimalHead(name) }));
const CLIENT_TTFT_HEAD = decimalHead(NAMES.clientTtft);
const SERVER_TTFT_HEAD = decimalHead(NAMES.serverTtft);
const OUTPUT_TOKENS_HEAD = integerHead(NAMES.outputTokens);
const HTTP_STATUS_HEAD = integerHead(NAMES.httpStatus);

type View = 'client' | 'server' | 'gateway';

const beginning = (view: View, joined: boolean): string =>
  [
    textAttribute(NAMES.operation, SPAN_OPERATION),
    booleanAttribute(NAMES.stream, true),
    textAttribute(NAMES.view, view),
    booleanAttribute(NAMES.joined, joined),
  ].join(',');
const BEGINNINGS = {
  client: { joined: beginning('client', true), alone: beginning('client', false) },
  server: { joined: beginning('server', true), alone: beginning('server', false) },
  gateway: { joined: beginning('gateway', true), alone: beginning('gateway', false) },
};

/** The root span's attributes as the elements of an OTLP/JSON list. What is not known is left out. */
export function rootAttributes(row: RequestRow, clamped: boolean): string {
  let json = isJoined(row) ? BEGINNINGS[viewOf(row)].joined : BEGINNINGS[viewOf(row)].alone;
  for (const { column, head } of TEXT_HEADS) {
    const value = row[column];
    if (value !== null) json += head + asciiJson(value) + TEXT_TAIL;
  }
  for (const { column, head } of INTEGER_HEADS) {
    const value = row[column];
    if (value !== null) json += head + value + INTEGER_TAIL;
  }
  for (const { column, head } of DECIMAL_HEADS) {
    const value = row[column];
    if (value !== null) json += head + Math.round(value * 1e3) / 1e3 + DECIMAL_TAIL;
  }
  if (row.ttft_ms !== null) json += CLIENT_TTFT_HEAD + Math.round(row.ttft_ms * 1e6) / 1e9 + DECIMAL_TAIL;
  if (row.server_ttft_ns !== null) json += SERVER_TTFT_HEAD + row.server_ttft_ns / 1e9 + DECIMAL_TAIL;
  const outputTokens = row.server_output_tokens ?? row.output_tokens;
  if (outputTokens !== null) json += OUTPUT_TOKENS_HEAD + outputTokens + INTEGER_TAIL;
  const httpStatus = row.server_status ?? row.gateway_status;
  if (httpStatus !== null) json += HTTP_STATUS_HEAD + httpStatus + INTEGER_TAIL;
  const failure = failureOf(row);
  if (failure !== null) json += `,${textAttribute(NAMES.errorType, failure)}`;
  if (row.flags !== 0) json += flagsAttribute(row.flags);
  if (clamped) json += `,${booleanAttribute(NAMES.clamped, true)}`;
  for (const [name, durationNs] of Object.entries(row.sub_stages_ns ?? {}))
    json += integerHead(NAMES.subStagePrefix + name) + durationNs + INTEGER_TAIL;
  return json;
}

function viewOf(row: RequestRow): View {
  if (hasClientHalf(row)) return 'client';
  return hasServerHalf(row) ? 'server' : 'gateway';
}

function flagsAttribute(flags: number): string {
  const values = flagsOf(flags).map((flag) => `{"stringValue":"${flag}"}`);
  return `,${head(NAMES.flags)}{"arrayValue":{"values":[${values.join(',')}]}}}`;
}
