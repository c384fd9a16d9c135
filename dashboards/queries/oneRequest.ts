import { reference } from '../variables/reference.ts';
import { neverEmpty } from './neverEmpty.ts';
import { LOG_ID, TRACE_ID } from './requestsFilter.ts';
import { WATERFALL_PARTS } from './slowestRequests.ts';

/** Name of the text box. */
export const TRACE_ID_VARIABLE = 'trace_id';

const GIVEN = `trim(${reference(`${TRACE_ID_VARIABLE}:sqlstring`)})`;

/**
 * The key of an id in any spelling that the ingest accepts, as contract/traceId.ts reads it: hex digits, UUID, 64 bits, X-Ray, and any other text
 * by its hash. All but the last are hex digits once the dashes are gone.
 */
const KEY = `(SELECT CASE
    WHEN given ~* '^([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$' THEN replace(given, '-', '')
    WHEN given ~* '^[0-9a-f]{16}$' THEN lpad(given, 32, '0')
    WHEN given ~* '^1-[0-9a-f]{8}-[0-9a-f]{24}$' THEN replace(substr(given, 3), '-', '')
    ELSE left(encode(sha256(convert_to(given, 'UTF8')), 'hex'), 32)
  END::uuid
  FROM (SELECT ${GIVEN} AS given) AS box)`;

/** The newest row of that key. It needs no time range: each partition is asked by its primary key. */
const ONE = `one AS (
  SELECT * FROM requests WHERE trace_id = ${KEY} ORDER BY day DESC LIMIT 1
)`;

/** For a hidden variable: the key as traces and logs spell it, known or not. */
export function traceKeySql(): string {
  return `SELECT replace(${KEY}::text, '-', '') AS value`;
}

/** For a hidden variable: the id as the logs may spell it; the key where nothing is known. */
export function logIdSql(): string {
  return `SELECT coalesce(
  (SELECT ${LOG_ID} FROM requests WHERE trace_id = ${KEY} ORDER BY day DESC LIMIT 1),
  replace(${KEY}::text, '-', '')) AS value`;
}

const ms = (column: string) => `to_char(${column}, 'FM999999990.0') || ' ms'`;
const count = (column: string) => `${column}::text`;

/** By the browser's own account. All 0: the connection was there already. */
const MAKING_THE_CONNECTION = `CASE WHEN connection_dns_ms + connection_tcp_ms + connection_tls_ms = 0 THEN 'reused, 0 ms'
    ELSE 'DNS ' || ${ms('connection_dns_ms')} || ', TCP ' || ${ms('connection_tcp_ms')} || ', TLS ' || ${ms('connection_tls_ms')} END`;

const FACTS: readonly (readonly [fact: string, sql: string])[] = [
  ['trace id', TRACE_ID],
  ['id as it was spelled', 'trace_ref'],
  ['started', `to_char(started_at AT TIME ZONE '${reference('__timezone')}', 'YYYY-MM-DD HH24:MI:SS.MS')`],
  ['how it ended', 'status::text'],
  ['flags', `nullif(array_to_string(flag_names(flags), ', '), '')`],
  ['TTFT, client', ms('ttft_ms')],
  ['TTFT of visible text', ms('ttft_visible_ms')],
  ['TTFT, server', ms('server_ttft_ns / 1e6')],
  ['header X-Timing-Trace', `'stamps taken: ' || stamp_count || coalesce(', TTFT between ' || ttft_basis, '')`],
  ['server half', 'server_source::text'],
  ['TPOT', ms('tpot_ms')],
  ['longest gap', ms('gap_max_ms')],
  ['standard deviation of the gaps', ms('gap_stddev_ms')],
  ['first screen', ms('first_screen_ms')],
  ['end of the stream', ms('end_ms')],
  ['model', 'model'],
  ['route', 'route'],
  ['variant', 'variant'],
  ['tier', 'tier'],
  ['backend', 'backend'],
  ['quantisation', 'quantization'],
  ['decoding', 'decoding'],
  ['temperature', count('temperature')],
  ['batch size', count('batch_size')],
  ['prompt tokens', count('prompt_tokens')],
  ['of them cached', count('cached_tokens')],
  ['output tokens', `output_tokens || coalesce(' by ' || output_tokens_source, '')`],
  ['region', 'region'],
  ['device', 'device::text'],
  ['connection', 'connection::text'],
  ['making the connection', MAKING_THE_CONNECTION],
  ['waiting for the head of the answer', ms('connection_wait_ms')],
  ['network operator', 'carrier'],
  ['HTTP status, server', count('server_status')],
  ['HTTP status, gateway', count('gateway_status')],
  ['attempts share', 'call_id'],
];

/** What is known, one fact a row, as text; the key and the id in the logs besides, for links. */
export function factsSql(): string {
  const values = FACTS.map(([fact, sql], position) => `(${position}, '${fact}', ${sql})`);
  return `WITH ${ONE}
SELECT fact, value, ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
FROM one CROSS JOIN LATERAL (VALUES
  ${values.join(',\n  ')}
) AS facts(position, fact, value)
WHERE value IS NOT NULL
ORDER BY position`;
}

/** The parts of the client TTFT in milliseconds, as the columns of one row; its label says what the whole was. */
export function requestStagesSql(): string {
  const columns = [...WATERFALL_PARTS, 'render' as const].map(
    (part) => `${part}_ns / 1e6::double precision AS ${part}`,
  );
  return `WITH ${ONE}
SELECT coalesce('TTFT ' || ${ms('ttft_ms')}, 'TTFT at the server ' || ${ms('server_ttft_ns / 1e6')}, 'no TTFT') AS request,
  ${columns.join(',\n  ')}
FROM one`;
}

/** Named pieces of work inside the server, the longest first; milliseconds. */
export function subStagesSql(): string {
  return `WITH ${ONE}
SELECT name, duration_ns::bigint / 1e6::double precision AS duration
FROM one CROSS JOIN LATERAL jsonb_each_text(sub_stages_ns) AS parts(name, duration_ns)
ORDER BY duration DESC, name`;
}

/** Every token-bearing event: its arrival, the tokens so far, and the gap before it, in milliseconds from the fetch call. */
function arrivals(columns: string, more = ''): string {
  return `WITH ${ONE}, events AS (
  SELECT n, arrival_ms, sum(coalesce(chunk, 1)) OVER (ORDER BY n) AS tokens,
    arrival_ms - lag(arrival_ms) OVER (ORDER BY n) AS gap_ms
  FROM one JOIN request_arrivals AS listed ON listed.trace_id = one.trace_id AND listed.day = one.day
  CROSS JOIN LATERAL unnest(listed.arrivals_ms, listed.chunk_tokens) WITH ORDINALITY AS arrived(arrival_ms, chunk, n)
)
SELECT ${columns} FROM events WHERE arrival_ms IS NOT NULL${more} ORDER BY n`;
}

export function arrivalsSql(): string {
  return neverEmpty(arrivals('arrival_ms::double precision AS arrival, tokens'));
}

export function gapsSql(): string {
  return neverEmpty(
    arrivals('arrival_ms::double precision AS arrival, gap_ms::double precision AS gap', ' AND gap_ms IS NOT NULL'),
  );
}
