import { type GatewayLogLine, readGatewayLine } from '../../contract/gatewayLog.ts';
import { accept, type Result, reject } from '../../contract/rejections.ts';
import type { GatewayHalf } from './half.ts';
import { NO_SOURCES, traceKeyOf } from './traceKey.ts';

/** Checks one parsed line of the gateway's access log and reads it into a gateway half. */
export function validateGatewayLine(value: unknown, receivedAtMs: number): Result<GatewayHalf> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NO_OBJECT;
  const line: Record<string, unknown> = Object.create(null);
  for (const [field, given] of Object.entries(value)) {
    if (!FIELDS.has(field) || given === null) continue;
    if (typeof given !== 'string' && typeof given !== 'number') return WRONG_FIELD;
    // Both forms are in use, and nginx's own is text.
    line[field] = String(given);
  }
  // The gateway writes a dash for a variable without a value.
  const id = [line['trace_id'], line['request_id']].find(
    (given) => given !== undefined && given !== '' && given !== '-',
  );
  const key = traceKeyOf(id ?? null, 'default', NO_SOURCES);
  if (!key.ok) return key;
  const times = readGatewayLine(line as GatewayLogLine);
  if (!times.ok) return times;
  const { requestMs } = times.value;
  return accept({
    kind: 'gateway',
    ...key.value,
    receivedAtMs,
    startedAtMs: requestMs === null ? null : receivedAtMs - requestMs,
    startedAtReplaced: false,
    ...times.value,
  });
}

const FIELDS: ReadonlySet<string> = new Set([
  'trace_id',
  'request_id',
  'request_time',
  'upstream_connect_time',
  'upstream_header_time',
  'upstream_response_time',
  'status',
  'upstream_status',
  'buffering',
]);

const NO_OBJECT = reject('malformed_json', 'A line of the access log is a JSON object.');
const WRONG_FIELD = reject('invalid_field', 'The values of an access-log line are text or numbers.');
