import { randomBytes } from 'node:crypto';
import { BEACON_VERSION, type Beacon } from '../../contract/beacon.ts';
import type { ServerRecord } from '../../contract/serverRecord.ts';

/** Stages of 2, 3, 5, 1, 7 and 3 ns, on a machine that has been up for 104 days: as floating-point numbers they are wrong. */
export const TIMING_TRACE =
  '9007199254740993,9007199254740995,9007199254740998,9007199254741003,9007199254741004,9007199254741011,9007199254741014';
/** Nanoseconds from t1 to t6. */
export const SERVER_TTFT_NS = 19;

export function traceId(): string {
  return randomBytes(16).toString('hex');
}

export function serverRecord(fields: Partial<ServerRecord> & { trace_id: string }): ServerRecord {
  return { timing_trace: TIMING_TRACE, model: 'llama', route: '/api/chat', ...fields };
}

/** A finished stream of three token-bearing events: TTFT 412.3 ms, two gaps. */
export function beacon(fields: Partial<Beacon> & { trace_id: string }): Beacon {
  return {
    v: BEACON_VERSION,
    status: 'complete',
    seq: 1,
    since_start_ms: 700,
    ttft_ms: 412.3,
    end_ms: 640,
    arrivals_ms: [412.3, 450.1, 512.3],
    chunk_tokens: [1, 4, 4],
    output_tokens: 9,
    output_tokens_source: 'usage',
    device: 'mobile',
    ...fields,
  };
}
