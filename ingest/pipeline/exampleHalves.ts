import type { Beacon } from '../../contract/beacon.ts';
import type { Result } from '../../contract/rejections.ts';
import type { ServerRecord } from '../../contract/serverRecord.ts';
import type { ClientHalf, ServerHalf } from './half.ts';
import { NO_SOURCES } from './traceKey.ts';
import { type Surroundings, validateBeacon, validateServerRecord } from './validate.ts';

/** For tests: halves of one request, read from what a sender would post. */
export const EXAMPLE_KEY = '4bf92f3577b34da6a3ce929d0e0e4736';
export const EXAMPLE_RECEIVED_MS = 1_785_491_532_000;

/** Stages of 1, 2, 3, 5, 1, 7 and 3 ms; server TTFT 20 ms (basis t1-t6). */
export const EXAMPLE_TRACE = '1000000,2000000,4000000,7000000,12000000,19000000,22000000';

const surroundings: Surroundings = {
  receivedAtMs: EXAMPLE_RECEIVED_MS,
  traceIds: NO_SOURCES,
  region: null,
  carrier: null,
};

export function exampleClient(fields: Partial<Beacon> = {}, around: Partial<Surroundings> = {}): ClientHalf {
  const beacon: Beacon = { v: 1, trace_id: EXAMPLE_KEY, status: 'complete', ...fields };
  return halfOf(validateBeacon(beacon, { ...surroundings, ...around }));
}

export function exampleServer(fields: Partial<ServerRecord> = {}): ServerHalf {
  const record: ServerRecord = { trace_id: EXAMPLE_KEY, timing_trace: EXAMPLE_TRACE, ...fields };
  return halfOf(validateServerRecord(record, surroundings));
}

/** The server half that a client read from the response's headers. */
export function exampleEcho(fields: Pick<Beacon, 'timing_trace' | 'server_timing'> = {}): ServerHalf {
  const { echo } = exampleClient({ timing_trace: EXAMPLE_TRACE, ...fields });
  if (echo === null) throw new Error('the fields measure nothing');
  return echo;
}

function halfOf<T>(read: Result<T>): T {
  if (!read.ok) throw new Error(`${read.rejection.code}: ${read.rejection.message}`);
  return read.value;
}
