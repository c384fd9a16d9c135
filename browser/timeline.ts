import { endOf } from './payload.ts';
import type { ConnectionPart } from './resourceTiming.ts';
import type { StreamRecord } from './streamRecord.ts';

/**
 * Draws a finished stream into the browser's own timeline, as measures named by its trace id. Nothing outside a page, where nobody
 * looks and measures would gather for ever.
 *
 * @param paintedMs offset at which the first token was painted
 */
export function drawTimeline(
  record: StreamRecord,
  connection: readonly ConnectionPart[] = [],
  paintedMs: number | null | undefined,
): void {
  if (!globalThis.document) return;
  const { traceId, startedAt, arrivals } = record;
  const first = arrivals[0];
  const draw = (name: string, start: number, end: number): void => {
    performance.measure(`${traceId} ${name}`, { start, end });
  };
  for (const part of connection) draw(...part);
  if (first !== undefined) {
    draw('ttft', startedAt, first);
    draw('stream', first, endOf(record));
    if (paintedMs != null) draw('render', first, startedAt + paintedMs);
  }
}
