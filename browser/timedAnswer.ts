/** For tests: answers whose bytes come at given times of a fake clock, and what the SDK reports of them. */
import { vi } from 'vitest';
import type { Beacon } from '../contract/beacon.ts';
import { flush } from './follow.ts';
import { observeResponse } from './observeResponse.ts';
// Loaded beforehand: a fake clock would stand still while it is.
import './reporting.ts';
import { configure, type TraceOptions } from './settings.ts';

export const ENDPOINT = 'http://ingest.test/v1/beacons';

/** Milliseconds after the request, and what comes then. An error breaks the connection. */
export type Arrival = readonly [atMs: number, what: string | Uint8Array | Error];

export function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
}

export interface TimedAnswer {
  readonly arrivals: readonly Arrival[];
  /** When the connection ends; absent: it stays open. */
  readonly endsAt?: number;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

export function timedResponse({ arrivals, endsAt, type = 'text/event-stream', headers }: TimedAnswer): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const [atMs, what] of arrivals) {
        setTimeout(() => {
          if (what instanceof Error) controller.error(what);
          else controller.enqueue(typeof what === 'string' ? new TextEncoder().encode(what) : what.slice());
        }, atMs);
      }
      if (endsAt !== undefined) setTimeout(() => controller.close(), endsAt);
    },
  });
  return new Response(body, { headers: { 'content-type': type, ...headers } });
}

/** Bodies that were posted, each beacon parsed. */
export function catchBeacons(): Beacon[] {
  const beacons: Beacon[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
    for (const line of body.trim().split('\n')) beacons.push(JSON.parse(line));
    return new Response('{}', { status: 202 });
  });
  return beacons;
}

/** The last beacon of an answer that is read to its end, under a fake clock. */
export async function measure(answer: TimedAnswer, options: TraceOptions = {}, untilMs = 130_000): Promise<Beacon> {
  const beacons = catchBeacons();
  configure({ endpoint: ENDPOINT });
  const startedAt = performance.now();
  const response = observeResponse(timedResponse(answer), { ...options, startedAt });
  const reading = response.text().catch(() => {});
  await vi.advanceTimersByTimeAsync(untilMs);
  if (answer.endsAt !== undefined) await reading;
  await flush();
  return beacons.at(-1)!;
}
