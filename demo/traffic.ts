import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { StreamStatus } from '../contract/beacon.ts';
import { type ClientTarget, runClient } from './client.ts';
import { arrivalTimesMs, inPulse } from './pace.ts';
import { planRequest } from './plan.ts';

/** Streams open at once. What would come on top is held back and counted: one process can read no more of them on time. */
const MAX_OPEN = 400;

export interface TrafficOptions {
  readonly seed: number;
  readonly ratePerSecond: number;
  /** Milliseconds; null without end. */
  readonly runForMs: number | null;
  readonly gatewayUrl: string;
  readonly collectingPrefix?: string;
  readonly send: ClientTarget['send'];
}

export interface TrafficCounts {
  readonly started: number;
  readonly open: number;
  readonly heldBack: number;
  readonly byStatus: ReadonlyMap<StreamStatus, number>;
}

export interface Traffic {
  readonly counts: TrafficCounts;
  /** A trace that is known to the service, to look at. */
  readonly lastTraceId: string | null;
  /** Resolves when no more requests start: the time is over, or `stopStarting` was called. */
  readonly startedAll: Promise<void>;
  stopStarting(): void;
  /** Resolves when all streams have ended and their beacons are sent; after `withinMs` the open ones are left, as by closing pages. */
  drain(withinMs: number): Promise<void>;
}

/** Starts requests at the drawn times and keeps count of them. */
export function startTraffic(options: TrafficOptions): Traffic {
  const { seed, ratePerSecond, runForMs, gatewayUrl, collectingPrefix = '', send } = options;
  const beganMs = performance.now();
  const starting = new AbortController();
  const pages = new AbortController();
  setMaxListeners(MAX_OPEN, pages.signal);
  const open = new Set<Promise<void>>();
  const byStatus = new Map<StreamStatus, number>();
  let started = 0;
  let heldBack = 0;
  let lastTraceId: string | null = null;

  const run = async (index: number, pulse: boolean): Promise<void> => {
    const { traceId, status } = await runClient(planRequest(seed, index, pulse), {
      gatewayUrl,
      collectingPrefix,
      send,
      signal: pages.signal,
    });
    lastTraceId = traceId;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  };

  const startAll = async (): Promise<void> => {
    let index = 0;
    for (const atMs of arrivalTimesMs(seed, ratePerSecond)) {
      if (runForMs !== null && atMs >= runForMs) {
        await waitUntil(beganMs + runForMs, starting.signal);
        return;
      }
      await waitUntil(beganMs + atMs, starting.signal);
      if (starting.signal.aborted) return;
      const number = index++;
      if (open.size >= MAX_OPEN) {
        heldBack++;
        continue;
      }
      started++;
      const request = run(number, inPulse(atMs)).finally(() => open.delete(request));
      open.add(request);
    }
  };

  return {
    get counts() {
      return { started, open: open.size, heldBack, byStatus };
    },
    get lastTraceId() {
      return lastTraceId;
    },
    startedAll: startAll(),
    stopStarting: () => starting.abort(),
    async drain(withinMs) {
      const impatience = setTimeout(() => pages.abort(), withinMs);
      while (open.size > 0) await Promise.allSettled(open);
      clearTimeout(impatience);
    },
  };
}

async function waitUntil(timeMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = timeMs - performance.now();
  // A wait that is called off is not a failure: the caller looks at the signal.
  if (leftMs > 0) await wait(leftMs, undefined, { signal }).catch(() => undefined);
}
