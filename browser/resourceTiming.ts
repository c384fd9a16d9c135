/** A part of a connection, with its start and end on the page's monotonic clock. */
export type ConnectionPart = readonly [name: 'dns' | 'tcp' | 'tls' | 'wait', start: number, end: number];

/**
 * The browser's own account of a request, which it gives only after the answer's end. A connection that was there already took no time.
 * Undefined where it gives none: outside a page, when the list is full, or when another origin's answer bears no `Timing-Allow-Origin`.
 */
export function connectionParts(url: string | undefined, startedAt: number): ConnectionPart[] | undefined {
  if (!globalThis.document) return undefined;
  const { href } = new URL(url ?? '', document.baseURI);
  const entries = performance.getEntriesByName(href, 'resource') as PerformanceResourceTiming[];
  const entry = entries.find(({ startTime }) => startTime >= startedAt);
  // Zeros, where the other origin does not allow it.
  if (!entry?.requestStart) return undefined;
  const tcpEnd = entry.secureConnectionStart || entry.connectEnd;
  return [
    ['dns', entry.domainLookupStart, entry.domainLookupEnd],
    ['tcp', entry.connectStart, tcpEnd],
    ['tls', tcpEnd, entry.connectEnd],
    ['wait', entry.requestStart, entry.responseStart],
  ];
}
