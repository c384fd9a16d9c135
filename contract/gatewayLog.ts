import { MAX_OFFSET_MS } from './limits.ts';
import { accept, type Result, reject } from './rejections.ts';

/**
 * One line of nginx's access log in the shipped `log_format` (escape=json): all values are text, as nginx's variables are. Times
 * are seconds with three decimals. Unknown fields are ignored.
 */
export interface GatewayLogLine {
  readonly trace_id?: string | null;
  readonly request_id?: string | null;
  readonly request_time?: string | number | null;
  readonly upstream_connect_time?: string | null;
  readonly upstream_header_time?: string | null;
  readonly upstream_response_time?: string | null;
  readonly status?: string | number | null;
  readonly upstream_status?: string | null;
  /** `off` where the location passes the stream on as it comes; only then is waiting in the gateway told from sending. */
  readonly buffering?: string | null;
}

/** What the gateway knew of one request. */
export interface GatewayTimes {
  /** Held before the upstream answered, nanoseconds, at nginx's resolution of a millisecond; null where nothing tells. */
  readonly gatewayNs: number | null;
  readonly requestMs: number | null;
  /** HTTP status that the client got. */
  readonly status: number;
}

const SECONDS = /^(\d{1,6})\.(\d{3})$/;

/**
 * Reads one of nginx's `$upstream_*_time` variables into milliseconds: a comma separates attempts, a colon server groups, `-` is
 * an attempt without a value. Decimal digits are read as they stand (1.001 times 1000 is not 1001 in floating point).
 *
 * @returns the groups of attempts; null as a whole for a dash alone, for nothing, and for what is none of this
 */
export function parseUpstreamTimes(text: string | null | undefined): (number | null)[][] | null {
  if (text == null) return null;
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  if (bare === '' || bare === '-') return null;
  const groups: (number | null)[][] = [];
  for (const group of bare.split(':')) {
    const attempts: (number | null)[] = [];
    for (const attempt of group.split(',')) {
      const value = attempt.trim();
      const ms = value === '-' ? null : milliseconds(value);
      if (ms === undefined) return null;
      attempts.push(ms);
    }
    groups.push(attempts);
  }
  return groups;
}

function milliseconds(text: string): number | undefined {
  const found = SECONDS.exec(text);
  return found ? Number(found[1]) * 1000 + Number(found[2]) : undefined;
}

/** The last word of a list of upstream statuses: `502, -, 200` is 200; null where there is none. */
export function parseUpstreamStatus(text: string | null | undefined): number | null {
  const last = text?.split(/[,:]/).at(-1)?.trim() ?? '';
  return /^[1-5]\d\d$/.test(last) ? Number(last) : null;
}

/**
 * Works out what the gateway added: all attempts before the last, the connection of the last, and, where the stream is passed
 * on unbuffered, the time of the request in which no upstream was at work.
 */
export function readGatewayLine(line: GatewayLogLine): Result<GatewayTimes> {
  const status = Number(line.status ?? Number.NaN);
  if (!Number.isInteger(status) || status < 100 || status > 599) return NO_STATUS;
  const requestMs = milliseconds(String(line.request_time ?? '')) ?? null;
  const connects = parseUpstreamTimes(line.upstream_connect_time)?.flat() ?? null;
  const responses = parseUpstreamTimes(line.upstream_response_time)?.flat() ?? null;
  if (connects === null && responses === null) return accept({ gatewayNs: null, requestMs, status });

  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((total, ms) => total + (ms ?? 0), 0);
  let gatewayMs = sum(responses?.slice(0, -1) ?? []) + (connects?.at(-1) ?? 0);
  if (line.buffering === 'off' && requestMs !== null && responses !== null) {
    gatewayMs += Math.max(0, requestMs - sum(responses));
  }
  return accept({ gatewayNs: Math.min(gatewayMs, MAX_OFFSET_MS) * 1_000_000, requestMs, status });
}

const NO_STATUS = reject('missing_field', 'A line of the access log needs a status from 100 to 599.');
