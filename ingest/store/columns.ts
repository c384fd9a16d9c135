import { newRow, type RequestRow } from '../pipeline/row.ts';

/** How the columns of `requests` travel: whole columns as PostgreSQL array literals, in one parameter each. */
export interface Column {
  readonly name: keyof RequestRow;
  /** Type of the array that carries the column. */
  readonly arrayType: string;
  /** SQL that turns an element `u.<name>` into the column's value. */
  readonly fromArray: string;
  /** SQL that reads the column so that the driver's plain parsing gives the row's own value. */
  readonly select: string;
  /** Later halves may change it. */
  readonly changes: boolean;
  readonly encode: (value: NonNullable<RequestRow[keyof RequestRow]>) => string;
}

type Kind =
  | 'bigint'
  | 'float8'
  | 'float4'
  | 'integer'
  | 'smallint'
  | 'boolean'
  | 'text'
  | 'status'
  | 'source'
  | 'tokenSource'
  | 'device'
  | 'connection';

const plain = (value: unknown): string => String(value);

/** The smallest single-precision number. PostgreSQL refuses a text that would be rounded to zero instead of rounding it. */
const LEAST_REAL = 2 ** -149;
export const encodeReal = (value: unknown): string => ((value as number) < LEAST_REAL ? '0' : String(value));

const KINDS: Record<Kind, { readonly type: string; readonly encode: Column['encode'] }> = {
  bigint: { type: 'bigint', encode: plain },
  float8: { type: 'double precision', encode: plain },
  float4: { type: 'real', encode: encodeReal },
  integer: { type: 'integer', encode: plain },
  smallint: { type: 'smallint', encode: plain },
  boolean: { type: 'boolean', encode: plain },
  text: { type: 'text', encode: (value) => quote(String(value)) },
  status: { type: 'stream_status', encode: plain },
  source: { type: 'server_source', encode: plain },
  tokenSource: { type: 'token_source', encode: plain },
  device: { type: 'device', encode: plain },
  connection: { type: 'connection', encode: plain },
};

const KIND_OF: Partial<Record<keyof RequestRow, Kind>> = {
  receive_ns: 'bigint',
  preprocess_ns: 'bigint',
  kv_load_ns: 'bigint',
  queue_ns: 'bigint',
  first_token_ns: 'bigint',
  serialize_ns: 'bigint',
  send_ns: 'bigint',
  server_ttft_ns: 'bigint',
  unattributed_ns: 'bigint',
  gateway_ns: 'bigint',
  network_ns: 'bigint',
  render_ns: 'bigint',
  ttft_ms: 'float8',
  ttft_visible_ms: 'float8',
  end_ms: 'float8',
  seq: 'integer',
  output_tokens: 'integer',
  prompt_tokens: 'integer',
  cached_tokens: 'integer',
  prompt_chars: 'integer',
  server_output_tokens: 'integer',
  top_k: 'integer',
  tpot_ms: 'float4',
  gap_max_ms: 'float4',
  gap_mean_ms: 'float4',
  gap_stddev_ms: 'float4',
  first20_mean_ms: 'float4',
  window10_stddev_max_ms: 'float4',
  first_screen_ms: 'float4',
  render_p50_ms: 'float4',
  render_max_ms: 'float4',
  connection_dns_ms: 'float4',
  connection_tcp_ms: 'float4',
  connection_tls_ms: 'float4',
  connection_wait_ms: 'float4',
  gateway_request_ms: 'float4',
  temperature: 'float4',
  status: 'status',
  output_tokens_source: 'tokenSource',
  device: 'device',
  connection: 'connection',
  server_source: 'source',
  server_status: 'smallint',
  gateway_status: 'smallint',
  batch_size: 'smallint',
  flags: 'smallint',
  direct_fields: 'smallint',
  stamp_count: 'smallint',
  settled: 'boolean',
  ttft_basis: 'text',
  model: 'text',
  route: 'text',
  variant: 'text',
  tier: 'text',
  backend: 'text',
  region: 'text',
  carrier: 'text',
  quantization: 'text',
  decoding: 'text',
  trace_ref: 'text',
  call_id: 'text',
};

/** Columns that need more than a cast on their way. */
const SPECIAL: Partial<Record<keyof RequestRow, Omit<Column, 'name'>>> = {
  trace_id: {
    arrayType: 'uuid[]',
    fromArray: 'u.trace_id',
    select: `replace(r.trace_id::text, '-', '')`,
    changes: false,
    encode: plain,
  },
  day: { arrayType: 'date[]', fromArray: 'u.day', select: 'r.day::text', changes: false, encode: plain },
  started_at: {
    arrayType: 'double precision[]',
    fromArray: 'to_timestamp(u.started_at / 1000)',
    select: '(extract(epoch FROM r.started_at) * 1000)::double precision',
    changes: false,
    encode: plain,
  },
  // Sixteen hex digits as the 64 bits that they are, which PostgreSQL knows only as a signed number.
  parent_span_id: {
    arrayType: 'bigint[]',
    fromArray: 'u.parent_span_id',
    select: `lpad(to_hex(r.parent_span_id), 16, '0')`,
    changes: true,
    encode: (value) => String(BigInt.asIntN(64, BigInt(`0x${value}`))),
  },
  sub_stages_ns: {
    arrayType: 'text[]',
    fromArray: 'u.sub_stages_ns::jsonb',
    select: 'r.sub_stages_ns',
    changes: true,
    encode: (value) => quote(JSON.stringify(value)),
  },
};

/** The long lists have a table of their own; a row that is read for joining does not bring them. */
export const LISTS = ['arrivals_ms', 'chunk_tokens'] as const;

const NAMES = (Object.keys(newRow({ traceId: '', startedAtMs: 0 })) as (keyof RequestRow)[]).filter(
  (name) => !LISTS.some((list) => list === name),
);

/** All columns of `requests` that a row of ours has, in the row's order. */
export const COLUMNS: readonly Column[] = NAMES.map((name) => {
  const special = SPECIAL[name];
  if (special) return { name, ...special };
  const kind = KINDS[KIND_OF[name]!];
  return {
    name,
    arrayType: `${kind.type}[]`,
    fromArray: `u.${name}`,
    select: `r.${name}`,
    changes: true,
    encode: kind.encode,
  };
});

const SELECT = COLUMNS.map(({ name, select }) => `${select} AS ${name}`).join(', ');

/** What a query of `requests r` must select to read rows, without their lists. */
export const SELECT_ROW = [SELECT, ...LISTS.map((name) => `NULL AS ${name}`)].join(', ');

/** The same with the lists, of `requests r` and `request_arrivals a`. */
export const SELECT_ROW_AND_LISTS = [SELECT, ...LISTS.map((name) => `a.${name}`)].join(', ');

/**
 * One column of many rows as an array literal. A column in which nothing is known is sent as an empty array, which `unnest` beside
 * longer ones fills with nulls: most columns of a one-sided batch cost nothing.
 */
export function encodeColumn(column: Column, rows: readonly RequestRow[]): string {
  let literal = '';
  let known = false;
  for (const row of rows) {
    const value = row[column.name];
    if (literal !== '') literal += ',';
    if (value === null) literal += 'NULL';
    else {
      known = true;
      literal += column.encode(value);
    }
  }
  return known ? `{${literal}}` : '{}';
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Whether two states of a row differ in anything that is stored. */
export function rowChanged(before: RequestRow, after: RequestRow): boolean {
  for (const name of NAMES) {
    if (before[name] === after[name]) continue;
    if (name !== 'sub_stages_ns' || JSON.stringify(before[name]) !== JSON.stringify(after[name])) return true;
  }
  return false;
}
