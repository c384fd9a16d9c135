import { hasClientHalf, type RequestRow } from '../pipeline/row.ts';

/** From here on a request counts as slow: the threshold of `ttft_over_1s_ratio`. */
const SLOW_TTFT_MS = 1_000;
const SERVER_ERROR = 500;

/**
 * What a request failed with, as `error.type`: `error` or `truncated` where the client saw how it ended, else the HTTP status if
 * that is a server's failure; null when it did not fail.
 */
export function failureOf(row: RequestRow): string | null {
  if (hasClientHalf(row)) return row.status === 'error' || row.status === 'truncated' ? row.status : null;
  const status = row.server_status ?? row.gateway_status;
  return status !== null && status >= SERVER_ERROR ? String(status) : null;
}

/** Whether a request is slow or failed: what one looks for in traces, and so what is kept first. */
export function isNotable(row: RequestRow): boolean {
  const slow = (row.ttft_ms ?? 0) > SLOW_TTFT_MS || (row.server_ttft_ns ?? 0) > SLOW_TTFT_MS * 1e6;
  return slow || failureOf(row) !== null;
}
