import { planRequest, type RequestPlan } from '../../demo/plan.ts';
import type { ScenarioName } from '../../demo/scenarios.ts';

const SEED = 7;
const NS = 1_000_000;

/** Plans of the demo's generator, of one scenario or as they come. */
export function plans(count: number, scenario?: ScenarioName): RequestPlan[] {
  const found: RequestPlan[] = [];
  for (let index = 0; found.length < count; index++) {
    const plan = planRequest(SEED, index, false);
    if (scenario === undefined || plan.scenario === scenario) found.push(plan);
  }
  return found;
}

export const traceIdOf = ({ index }: RequestPlan) => `d${index.toString(16).padStart(31, '0')}`;

/** What the server of a planned request would report. */
export function serverHalf(plan: RequestPlan): object {
  const parts = [
    0,
    1,
    plan.preprocessMs + (plan.dbMs ?? 0),
    plan.kvLoadMs,
    plan.queueMs + plan.firstForwardMs,
    plan.serializeMs,
    0.4,
  ];
  let at = 1_000_000_000;
  const stamps = parts.map((ms) => {
    at += Math.round(ms * NS);
    return at;
  });
  return {
    trace_id: traceIdOf(plan),
    timing_trace: stamps.join(','),
    server_timing: `queue;dur=${plan.queueMs.toFixed(3)}`,
    model: plan.model,
    route: plan.route,
    variant: plan.variant,
    tier: plan.tier,
    backend: plan.backend,
    quantization: plan.variant === 'int4' ? 'int4' : 'none',
    decoding: plan.tokensPerEvent > 1 ? 'speculative' : 'greedy',
    temperature: 0.7,
    batch_size: plan.batchSize,
    sub_stages: plan.dbMs === null ? {} : { db: Math.round(plan.dbMs * NS) },
    prompt_tokens: Math.ceil(plan.promptChars / 4),
    output_tokens: plan.outputTokens,
    status: 200,
  };
}

/** The server TTFT of a plan in seconds. */
export function ttftSeconds(plan: RequestPlan): number {
  const ms =
    plan.preprocessMs + (plan.dbMs ?? 0) + plan.kvLoadMs + plan.queueMs + plan.firstForwardMs + plan.serializeMs;
  return (ms + 0.4) / 1000;
}

/** What its browser would report, at an even pace. */
export function clientHalf(plan: RequestPlan): object {
  const ttftMs = ttftSeconds(plan) * 1000 + plan.connectMs + plan.gatewayHoldMs + 20;
  const events = Math.ceil(plan.outputTokens / plan.tokensPerEvent);
  const arrivals = Array.from({ length: events }, (_, n) => ttftMs + n * plan.tokenMs * plan.tokensPerEvent);
  const seen = plan.interruption === null || plan.interruption === 'hide' ? events : plan.interruptAfterEvents;
  const status = plan.interruption === 'abort' ? 'aborted' : plan.interruption === 'cut' ? 'truncated' : 'complete';
  const end = arrivals[seen - 1] ?? ttftMs;
  return {
    v: 1,
    trace_id: traceIdOf(plan),
    seq: 1,
    status,
    since_start_ms: end + 5,
    ttft_ms: ttftMs,
    ttft_visible_ms: ttftMs,
    end_ms: end,
    arrivals_ms: arrivals.slice(0, seen),
    chunk_tokens: Array.from({ length: seen }, () => plan.tokensPerEvent),
    coalesced: plan.buffered,
    render: { first_ms: ttftMs + 12, p50_ms: 4, max_ms: 30 },
    model: plan.model,
    route: plan.route,
    prompt_chars: plan.promptChars,
    region: plan.region,
    device: plan.device,
    connection: plan.connection,
  };
}

/** The line that its gateway would log: seconds, as nginx writes them. */
export function gatewayLine(plan: RequestPlan): object {
  const upstream = ((clientHalf(plan) as { end_ms: number }).end_ms - plan.gatewayHoldMs) / 1000;
  return {
    trace_id: traceIdOf(plan),
    request_time: (upstream + plan.gatewayHoldMs / 1000).toFixed(3),
    upstream_connect_time: (plan.gatewayHoldMs / 1000).toFixed(3),
    upstream_header_time: ttftSeconds(plan).toFixed(3),
    upstream_response_time: upstream.toFixed(3),
    status: '200',
    upstream_status: '200',
  };
}
