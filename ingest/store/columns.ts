import { newRow, type RequestRow } from '../pipeline/row.ts';
import type { Messages } from './messages.ts';

/** How the columns of `requests` travel: whole columns as binary arrays, in one parameter each. */
export interface Column {
  readonly name: keyof RequestRow;
  /** Type of the array that carries the column, and of its elements. */
  readonly arrayType: string;
  readonly elementOid: number;
  /** SQL that turns an element `u.<name>` into the column's value. */
  readonly fromArray: string;
  /** SQL that reads the column so that the driver's plain parsing gives the row's own value. */
  readonly select: string;
  /** Later halves may change it. */
  readonly changes: boolean;
  readonly write: WriteElement;
}

type WriteElement = (out: Messages, value: NonNullable<RequestRow[keyof RequestRow]>) => void;

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

/** Numbers of PostgreSQL's own types, which never change (pg_type.dat). */
const OID = {
  boolean: 16,
  bigint: 20,
  smallint: 21,
  integer: 23,
  text: 25,
  real: 700,
  'double precision': 701,
  date: 1082,
  uuid: 2950,
} as const;

interface Carrier {
  readonly type: keyof typeof OID;
  readonly write: WriteElement;
  /** The column's type where it is another than the carrier's. */
  readonly cast?: string;
}

const text: WriteElement = (out, value) => out.text(value as string);
/** Our own types have other numbers in each database, so their words travel as text. */
const word = (cast: string): Carrier => ({ type: 'text', write: text, cast });

const KINDS: Record<Kind, Carrier> = {
  bigint: { type: 'bigint', write: (out, value) => out.int8(value as number) },
  float8: { type: 'double precision', write: (out, value) => out.float8(value as number) },
  float4: { type: 'real', write: (out, value) => out.float4(value as number) },
  integer: { type: 'integer', write: (out, value) => out.int4(value as number) },
  smallint: { type: 'smallint', write: (out, value) => out.int2(value as number) },
  boolean: { type: 'boolean', write: (out, value) => out.boolean(value as boolean) },
  text: { type: 'text', write: text },
  status: word('stream_status'),
  source: word('server_source'),
  tokenSource: word('token_source'),
  device: word('device'),
  connection: word('connection'),
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
const SPECIAL: Partial<Record<keyof RequestRow, Carrier & Pick<Column, 'fromArray' | 'select' | 'changes'>>> = {
  trace_id: {
    type: 'uuid',
    fromArray: 'u.trace_id',
    select: `replace(r.trace_id::text, '-', '')`,
    changes: false,
    write: (out, value) => out.hex(value as string),
  },
  day: {
    type: 'date',
    fromArray: 'u.day',
    select: 'r.day::text',
    changes: false,
    write: (out, value) => out.date(value as string),
  },
  started_at: {
    type: 'double precision',
    fromArray: 'to_timestamp(u.started_at / 1000)',
    select: '(extract(epoch FROM r.started_at) * 1000)::double precision',
    changes: false,
    write: (out, value) => out.float8(value as number),
  },
  // Sixteen hex digits are 64 bits, which PostgreSQL knows only as a signed number.
  parent_span_id: {
    type: 'bigint',
    fromArray: 'u.parent_span_id',
    select: `lpad(to_hex(r.parent_span_id), 16, '0')`,
    changes: true,
    write: (out, value) => out.hex(value as string),
  },
  sub_stages_ns: {
    type: 'text',
    fromArray: 'u.sub_stages_ns::jsonb',
    select: 'r.sub_stages_ns',
    changes: true,
    write: (out, value) => out.text(JSON.stringify(value)),
  },
};

/** The long lists have a table of their own; a row that is read for joining does not bring them. */
export const LISTS = ['arrivals_ms', 'chunk_tokens'] as const;

const NAMES = (Object.keys(newRow({ traceId: '', startedAtMs: 0 })) as (keyof RequestRow)[]).filter(
  (name) => !LISTS.some((list) => list === name),
);

/** All columns of `requests` that a row of ours has, in the row's order. */
export const COLUMNS: readonly Column[] = NAMES.map((name) => {
  const { type, write, cast, ...special }: Carrier & Partial<Column> = SPECIAL[name] ?? KINDS[KIND_OF[name]!];
  return {
    name,
    arrayType: `${type}[]`,
    elementOid: OID[type],
    fromArray: cast ? `u.${name}::${cast}` : `u.${name}`,
    select: `r.${name}`,
    changes: true,
    ...special,
    write,
  };
});

const SELECT = COLUMNS.map(({ name, select }) => `${select} AS ${name}`).join(', ');

/** What a query of `requests r` must select to read rows, without their lists. */
export const SELECT_ROW = [SELECT, ...LISTS.map((name) => `NULL AS ${name}`)].join(', ');

/** The same with the lists, of `requests r` and `request_arrivals a`. */
export const SELECT_ROW_AND_LISTS = [SELECT, ...LISTS.map((name) => `a.${name}`)].join(', ');

/**
 * One column of many rows as a parameter. A column in which nothing is known is sent as an empty array, which `unnest` beside longer
 * ones fills with nulls: most columns of a one-sided batch cost nothing.
 *
 * @throws UnstorableValueError
 */
export function writeColumn(out: Messages, { name, elementOid, write }: Column, rows: readonly RequestRow[]): void {
  let known = 0;
  for (const row of rows) if (row[name] !== null) known++;
  out.beginArray(elementOid);
  if (known > 0) {
    for (const row of rows) {
      const value = row[name];
      if (value === null) out.null();
      else write(out, value);
    }
  }
  out.endArray(known > 0 ? rows.length : 0, known < rows.length);
}

/** Whether two states of a row differ in anything that is stored. */
export function rowChanged(before: RequestRow, after: RequestRow): boolean {
  for (const name of NAMES) {
    if (before[name] === after[name]) continue;
    if (name !== 'sub_stages_ns' || JSON.stringify(before[name]) !== JSON.stringify(after[name])) return true;
  }
  return false;
}
