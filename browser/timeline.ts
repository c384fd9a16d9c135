import { endOf } from './payload.ts';
import { type ConnectionSplit, connectionParts } from './resourceTiming.ts';
import type { StreamRecord } from './streamRecord.ts';

/**
 * Draws a finished stream into the browser's own timeline, as measures named by its trace id, and gives how its connection was
 * made. Nothing outside a page, where nobody looks and measures would gather for ever.
 *
 * @param paintedMs offset at which the first token was painted
 */
export function drawTimeline(record: StreamRecord, paintedMs: number | null | undefined): ConnectionSplit | undefined {
  if (!globalThis.document) return undefined;
  const { traceId, startedAt, arrivals, url = '' } = record;
  const first = arrivals[0];
  const parts = connectionParts(new URL(url, document.baseURI).href, startedAt);
  const draw = (name: string, start: number, end: number): void => {
    performance.measure(`${traceId} ${name}`, { start, end });
  };
  for (const part of parts ?? []) draw(...part);
  if (first !== undefined) {
    draw('ttft', startedAt, first);
    draw('stream', first, endOf(record));
    if (paintedMs != null) draw('render', first, startedAt + paintedMs);
  }
  if (!parts) return undefined;
  const [dnsMs, tcpMs, tlsMs, waitingMs] = parts.map(([, start, end]) => end - start) as [
    number,
    number,
    number,
    number,
  ];
  return { dnsMs, tcpMs, tlsMs, waitingMs };
}
