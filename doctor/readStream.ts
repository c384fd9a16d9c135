import { randomBytes } from 'node:crypto';
import { createSseReader } from '../contract/sse.ts';
import { whyUnreachable } from './ask.ts';
import type { AppRequest } from './target.ts';

/** An answer that is longer than this is left: it has shown how it arrives. */
const READ_AT_MOST_MS = 60_000;

export interface StreamSeen {
  readonly kind: 'answered';
  readonly traceId: string;
  readonly status: number;
  readonly headers: Headers;
  readonly isEventStream: boolean;
  /** Events that say something, and how many of them shared a read with an earlier one. */
  readonly events: number;
  readonly sharedReads: number;
  /** From the request, milliseconds. */
  readonly firstMs: number;
  readonly endMs: number;
}

/** Asks the application for one streamed answer, under an id of its own, and notes how it arrives. Never throws. */
export async function readStream(
  app: AppRequest,
): Promise<StreamSeen | { readonly kind: 'unreachable'; readonly why: string }> {
  const traceId = randomBytes(16).toString('hex');
  const beganMs = performance.now();
  try {
    const response = await fetch(app.url, {
      method: app.body === null ? 'GET' : 'POST',
      body: app.body,
      headers: {
        accept: 'text/event-stream',
        'x-trace-id': traceId,
        ...(app.body === null ? {} : { 'content-type': 'application/json' }),
        ...(app.header === null ? {} : Object.fromEntries([app.header])),
      },
      signal: AbortSignal.timeout(READ_AT_MOST_MS),
    });
    const { status, headers } = response;
    const isEventStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    let events = 0;
    let sharedReads = 0;
    let inThisRead = 0;
    let firstMs = Number.NaN;
    const reader = createSseReader(({ data }) => {
      if (data !== '') inThisRead++;
    });
    for await (const bytes of response.body ?? []) {
      inThisRead = 0;
      if (isEventStream) reader.push(bytes);
      if (Number.isNaN(firstMs)) firstMs = performance.now() - beganMs;
      events += inThisRead;
      sharedReads += Math.max(0, inThisRead - 1);
    }
    const endMs = performance.now() - beganMs;
    return { kind: 'answered', traceId, status, headers, isEventStream, events, sharedReads, firstMs, endMs };
  } catch (error) {
    return { kind: 'unreachable', why: whyUnreachable(error) };
  }
}
