import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { watchResponse } from '../browser/observeResponse.ts';
import { buildBeacon } from '../browser/payload.ts';
import type { About } from '../browser/settings.ts';
import { openRecord } from '../browser/streamRecord.ts';
import { addTraceHeaders } from '../browser/traceIdentity.ts';
import type { Beacon, StreamStatus } from '../contract/beacon.ts';
import type { RequestPlan } from './plan.ts';
import { planHeaders } from './planHeaders.ts';

const WORDS = 'why was the first token of this answer late and for whom did it come in time ';

/** A prompt of exactly so many characters. It goes to the backend, and never to the ingest. */
function promptOf(characters: number): string {
  return WORDS.repeat(Math.ceil(characters / WORDS.length)).slice(0, characters);
}

export interface ClientTarget {
  readonly gatewayUrl: string;
  /** Before the path of a request whose answer a proxy is to hold back; empty where the gateway itself knows which. */
  readonly collectingPrefix?: string;
  /** Takes one beacon. Never throws. */
  readonly send: (beacon: Beacon) => Promise<void>;
  /** Ends all streams, as a closed page does. */
  readonly signal: AbortSignal;
}

export interface ClientResult {
  readonly traceId: string;
  readonly status: StreamStatus;
}

/**
 * One user: sends a chat request through the gateway, reads the streamed answer and reports it. What the browser SDK measures with in a page
 * measures here; only the hand that posts is the demo's own, which counts what was acknowledged. All times are taken from the moment of
 * the click (the fetch call); on a mobile device the connection has to be made first.
 */
export async function runClient(plan: RequestPlan, target: ClientTarget): Promise<ClientResult> {
  // Not from the seed: a second run on the same database must not meet the rows of the first.
  const traceId = randomBytes(16).toString('hex');
  const leaving = new AbortController();
  const { signal } = leaving;
  const leave = (): void => leaving.abort();
  target.signal.addEventListener('abort', leave, { once: true });
  const record = openRecord(traceId, performance.now(), { signal, about: aboutOf(plan) });
  let seq = 0;
  let hidden = false;
  const beacon = (): Beacon => ({
    ...buildBeacon(record, { seq: ++seq, suspended: false, hidden, render: null }),
    connection: plan.connection,
  });

  let interrupted = plan.interruption === null;
  const interruptWhenDue = (): void => {
    if (interrupted || record.arrivals.length < plan.interruptAfterEvents) return;
    interrupted = true;
    if (plan.interruption === 'abort') leave();
    if (plan.interruption === 'hide') {
      hidden = true;
      void target.send(beacon());
    }
  };

  try {
    if (plan.connectMs > 0) await wait(plan.connectMs, undefined, { signal });
    const response = watchResponse(await fetch(...requestOf(plan, target, traceId, signal)), record);
    if (response.body) for await (const _bytes of response.body) interruptWhenDue();
  } catch (error) {
    // Left, cut, or never connected; of an answer that had begun the record knows more.
    record.end('error', error);
  } finally {
    target.signal.removeEventListener('abort', leave);
  }
  const last = beacon();
  await target.send(last);
  return { traceId, status: last.status };
}

function aboutOf({ model, route, variant, tier, promptChars, region, device }: RequestPlan): About {
  return { model, route, variant, tier, prompt_chars: promptChars, region, device };
}

function requestOf(
  plan: RequestPlan,
  target: ClientTarget,
  traceId: string,
  signal: AbortSignal,
): [string, RequestInit] {
  const headers = new Headers({
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
    ...planHeaders(plan),
  });
  addTraceHeaders(headers, traceId, true);
  const body = JSON.stringify({
    model: plan.model,
    stream: true,
    stream_options: { include_usage: true, continuous_usage_stats: plan.tokensPerEvent > 1 },
    messages: [{ role: 'user', content: promptOf(plan.promptChars) }],
  });
  const prefix = plan.buffered ? (target.collectingPrefix ?? '') : '';
  return [`${target.gatewayUrl}${prefix}${plan.route}`, { method: 'POST', headers, body, signal }];
}
