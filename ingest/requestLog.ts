import { flagsOf } from '../contract/flags.ts';
import type { LogRequests } from './config.ts';
import type { Log } from './log.ts';
import type { RequestRow } from './pipeline/row.ts';
import type { OnCommitted } from './store/store.ts';

/** The share of requests beyond it is watched as `ttft_over_1s_ratio`: what is slower is worth a line. */
const SLOW_MS = 1_000;
const FAILED: ReadonlySet<string | null> = new Set(['error', 'truncated', 'no_output']);

/**
 * One line for each request that settles, under its trace id, so that the service's own log can be found from a trace as those of all other
 * parts can: slow and failed ones, or all.
 */
export function createRequestLog(log: Log, which: LogRequests): OnCommitted | null {
  if (which === 'none') return null;
  return (before, after) => {
    if (!after.settled || before?.settled) return;
    if (which === 'slow' && !isRemarkable(after)) return;
    log.info('request settled', {
      trace_id: after.trace_id,
      ...(after.trace_ref === null ? {} : { trace_ref: after.trace_ref }),
      status: after.status,
      model: after.model,
      route: after.route,
      ttft_client_ms: after.ttft_ms,
      ttft_server_ms: inMs(after.server_ttft_ns),
      tpot_ms: after.tpot_ms,
      flags: flagsOf(after.flags),
    });
  };
}

function isRemarkable(row: RequestRow): boolean {
  return (row.ttft_ms ?? inMs(row.server_ttft_ns) ?? 0) > SLOW_MS || FAILED.has(row.status);
}

function inMs(ns: number | null): number | null {
  return ns === null ? null : ns / 1e6;
}
