import type { BEACON_VERSION, Beacon, StreamStatus } from '../contract/beacon.ts';
import { MAX_ARRIVALS, MAX_OFFSET_MS, MAX_SERVER_TIMING_LENGTH } from '../contract/limits.ts';
import { streamOutcome } from '../contract/streamOutcome.ts';
import { gapStats } from './gapStats.ts';
import type { ConnectionPart } from './resourceTiming.ts';
import type { StreamRecord } from './streamRecord.ts';
import { connectionType, deviceKind } from './surroundings.ts';

// The schema stands beside the constant and would come along: the type alone keeps the two equal.
const VERSION: typeof BEACON_VERSION = 1;
/** Seven stamps, not all zero. A header that two proxies wrote is joined by a comma and a blank; it would spoil the beacon. */
const TIMING_TRACE = /^(?=.*[1-9])(\d+,){6}\d+$/;

/** What the page adds to the record of a stream. */
export interface PageFacts {
  readonly seq: number;
  readonly suspended: boolean;
  readonly hidden: boolean;
  readonly render: Beacon['render'];
  readonly connection?: readonly ConnectionPart[] | undefined;
}

/** Makes the beacon that says what is known of a stream now. */
export function buildBeacon(record: StreamRecord, page: PageFacts): Beacon {
  const { arrivals, tokenCounts, options, usage = {}, startedAt, serverTiming } = record;
  const at = (time: number | undefined): number | undefined => (time === undefined ? time : rounded(time - startedAt));
  const offsets = arrivals.map((arrival) => rounded(arrival - startedAt));
  const counted = offsets.length > 0 && tokenCounts.every(isTokenCount);
  const chunkTokens = counted ? tokenCounts : undefined;
  const listed = offsets.length <= MAX_ARRIVALS;
  const [outputTokens, source] = tokensOf(record, chunkTokens);

  const fields: { [Name in keyof Beacon]: Beacon[Name] | undefined } = {
    device: deviceKind(),
    connection: connectionType(),
    ...options.about,
    v: VERSION,
    trace_id: record.traceId,
    call_id: record.callId ?? undefined,
    seq: page.seq,
    status: statusOf(record),
    since_start_ms: rounded(performance.now() - startedAt),
    ttft_ms: offsets[0],
    ttft_visible_ms: at(record.firstVisibleAt),
    end_ms: record.ending && at(endOf(record)),
    arrivals_ms: listed ? offsets : undefined,
    chunk_tokens: listed ? chunkTokens : undefined,
    gap_stats: listed ? undefined : gapStats(offsets, chunkTokens),
    output_tokens: outputTokens,
    output_tokens_source: source,
    prompt_tokens: usage.promptTokens ?? options.about?.prompt_tokens,
    coalesced: offsets.length >= 4 && record.shared > offsets.length / 2,
    suspended: page.suspended,
    hidden: page.hidden,
    render: page.render && {
      first_ms: rounded(page.render.first_ms!),
      p50_ms: rounded(page.render.p50_ms!),
      max_ms: rounded(page.render.max_ms!),
    },
    connection_ms:
      page.connection && Object.fromEntries(page.connection.map(([name, start, end]) => [name, rounded(end - start)])),
    timing_trace: TIMING_TRACE.test(String(record.timingTrace)) ? record.timingTrace : undefined,
    server_timing: serverTiming && serverTiming.length <= MAX_SERVER_TIMING_LENGTH ? serverTiming : undefined,
  };
  return fields as Beacon;
}

/** To a tenth of a millisecond: browsers' clocks are no finer, and a long stream stays a small beacon. */
function rounded(ms: number): number {
  return Math.round(Math.min(Math.max(ms, 0), MAX_OFFSET_MS) * 10) / 10;
}

/** How the stream stands. */
function statusOf(record: StreamRecord): StreamStatus {
  const { ending, arrivals, terminatorSeen = false, errorSeen } = record;
  if (!ending) return 'streaming';
  return streamOutcome({
    tokenSeen: arrivals.length > 0,
    terminatorSeen,
    errorSeen: errorSeen || ending === 'error',
    aborted: ending === 'abort',
  });
}

/** When the answer was over: what the connection did after a proper end is not the answer's time. */
export function endOf(record: StreamRecord): number {
  return (record.terminatorSeen && record.lastEventAt) || record.endedAt!;
}

/** A count that the beacon can carry: a whole number of 15 bits. */
function isTokenCount(tokens: number): boolean {
  return tokens === (tokens & 0x7fff);
}

/** Streamed tokens only: reasoning that was not streamed took its time before the first token. */
function tokensOf(record: StreamRecord, chunkTokens: number[] | undefined) {
  const { outputTokens, reasoningTokens = 0 } = record.usage ?? {};
  if (outputTokens !== undefined) {
    return [Math.max(0, outputTokens - (record.reasoningSeen ? 0 : reasoningTokens)), 'usage'] as const;
  }
  if (chunkTokens) return [chunkTokens.reduce((sum, tokens) => sum + tokens), 'chunks'] as const;
  return [record.arrivals.length, 'events'] as const;
}
