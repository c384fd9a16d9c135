/** How the connection of a request was made, milliseconds; 0 where one was there already. */
export interface ConnectionSplit {
  readonly dnsMs: number;
  readonly tcpMs: number;
  readonly tlsMs: number;
  /** From the request's first byte to the first byte of the answer's head. */
  readonly waitingMs: number;
}

/** A part of a connection, with its start and end on the page's monotonic clock. */
export type ConnectionPart = readonly [name: 'dns' | 'tcp' | 'tls' | 'waiting', start: number, end: number];

/**
 * The browser's own account of a request, which it gives only after the answer's end. Undefined where it gives none: the list is
 * full, or another origin's answer bears no `Timing-Allow-Origin`.
 */
export function connectionParts(url: string, startedAt: number): ConnectionPart[] | undefined {
  const entries = performance.getEntriesByName(url, 'resource') as PerformanceResourceTiming[];
  const entry = entries.find(({ startTime }) => startTime >= startedAt);
  // Zeros, where the other origin does not allow it.
  if (!entry?.requestStart) return undefined;
  const tcpEnd = entry.secureConnectionStart || entry.connectEnd;
  return [
    ['dns', entry.domainLookupStart, entry.domainLookupEnd],
    ['tcp', entry.connectStart, tcpEnd],
    ['tls', tcpEnd, entry.connectEnd],
    ['waiting', entry.requestStart, entry.responseStart],
  ];
}
