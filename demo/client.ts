import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { BEACON_VERSION, type Beacon, type StreamStatus } from '../contract/beacon.ts';
import type { RequestPlan } from './plan.ts';
import { planHeaders } from './planHeaders.ts';
import { StreamRecording } from './recording.ts';

const WORDS = 'why was the first token of this answer late and for whom did it come in time ';

/** A prompt of exactly so many characters. It goes to the backend, and never to the ingest. */
function promptOf(characters: number): string {
  return WORDS.repeat(Math.ceil(characters / WORDS.length)).slice(0, characters);
}

export interface ClientTarget {
  readonly gatewayUrl: string;
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
 * One user: sends a chat request through the gateway, reads the streamed answer and reports it, as a page with the browser library
 * does. All times are taken from the moment of the click (the fetch call); on a mobile device the connection has to be made first.
 */
export async function runClient(plan: RequestPlan, target: ClientTarget): Promise<ClientResult> {
  const startedMs = performance.now();
  const elapsedMs = (): number => Math.round((performance.now() - startedMs) * 1_000) / 1_000;
  // Not from the seed: a second run on the same database must not meet the rows of the first.
  const traceId = randomBytes(16).toString('hex');
  const leaving = new AbortController();
  const { signal } = leaving;
  const leave = (): void => leaving.abort();
  target.signal.addEventListener('abort', leave, { once: true });
  const recording = new StreamRecording();
  let headers = new Headers();
  let seq = 0;
  let hidden = false;

  const beacon = (status: StreamStatus, endMs: number | null): Beacon => ({
    v: BEACON_VERSION,
    trace_id: traceId,
    seq: ++seq,
    status,
    since_start_ms: elapsedMs(),
    end_ms: endMs,
    ...recording.facts(),
    hidden,
    timing_trace: headers.get('x-timing-trace'),
    server_timing: headers.get('server-timing'),
    model: plan.model,
    route: plan.route,
    variant: plan.variant,
    tier: plan.tier,
    prompt_chars: plan.promptChars,
    region: plan.region,
    device: plan.device,
    connection: plan.connection,
  });

  let interrupted = plan.interruption === null;
  const interruptWhenDue = (): void => {
    if (interrupted || recording.events < plan.interruptAfterEvents) return;
    interrupted = true;
    if (plan.interruption === 'abort') leave();
    if (plan.interruption === 'hide') {
      hidden = true;
      void target.send(beacon('streaming', null));
    }
  };

  let refused = false;
  try {
    if (plan.connectMs > 0) await wait(plan.connectMs, undefined, { signal });
    const response = await fetch(`${target.gatewayUrl}${plan.route}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
        'X-Trace-ID': traceId,
        ...planHeaders(plan),
      },
      body: JSON.stringify({
        model: plan.model,
        stream: true,
        stream_options: { include_usage: true, continuous_usage_stats: plan.tokensPerEvent > 1 },
        messages: [{ role: 'user', content: promptOf(plan.promptChars) }],
      }),
      signal,
    });
    headers = response.headers;
    refused = !response.ok;
    if (response.body) {
      for await (const bytes of response.body) {
        recording.read(bytes, performance.now() - startedMs);
        interruptWhenDue();
      }
    }
  } catch {
    // Left or cut: the recording tells which. Without an answer there was none to cut.
    refused ||= headers.keys().next().done === true && !signal.aborted;
  } finally {
    target.signal.removeEventListener('abort', leave);
  }
  const status = refused ? 'error' : recording.outcome(signal.aborted);
  await target.send(beacon(status, elapsedMs()));
  return { traceId, status };
}
