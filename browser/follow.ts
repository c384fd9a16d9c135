import type * as Reporting from './reporting.ts';
import { optionsOf, type Settings, type TraceOptions } from './settings.ts';
import { openRecord, type StreamRecord } from './streamRecord.ts';
import { isSampled, randomHex } from './traceIdentity.ts';

/** Loaded with the first request, which waits for its model longer than for this. */
let reporting: Promise<typeof Reporting> | undefined;
let silent: boolean | undefined;

/**
 * Opens the record of an attempt, and has it reported. Undefined where nothing is measured: the trace is not sampled, there is
 * nowhere to send to, or the ingest wants no more.
 */
export function follow(
  traceId: string,
  startedAt: number,
  options: Settings,
  togetherMs?: number,
): StreamRecord | undefined {
  if (silent || !options.endpoint || !isSampled(traceId, options.sampleRate)) return undefined;
  const record = openRecord(traceId, startedAt, options, togetherMs);
  reporting ??= import('./reporting.ts');
  reporting.then(
    ({ report }) => report(record, silence),
    () => {
      // Off line, say: the next request tries again.
      reporting = undefined;
    },
  );
  return record;
}

export interface StreamOptions extends TraceOptions {
  /** `performance.now()` just before the request was made: whoever reads the answer comes too late to know. */
  readonly startedAt: number;
}

/**
 * For a stream that is read in another way, by WebSocket, say: the reader tells of each event with `take` (or `note`) as it
 * arrives, and of the end with `end`.
 *
 * @param togetherMs events at most so far apart count as of one read
 * @returns undefined where nothing is measured
 */
export function observeStream(options: StreamOptions, togetherMs?: number): StreamRecord | undefined {
  return follow(options.traceId ?? randomHex(32), options.startedAt, optionsOf(options), togetherMs);
}

function silence(): void {
  silent = true;
}

/** Sends what waits; resolves when it was tried. For a process that is about to end: a page sees to it by itself. */
export async function flush(): Promise<void> {
  return (await reporting)?.flush();
}

/** All that the page has read of its answers is in its document: the next frame paints it. For `render: 'manual'`. */
export function markRendered(): void {
  reporting?.then(({ markRendered }) => markRendered());
}
