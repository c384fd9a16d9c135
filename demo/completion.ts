import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { RequestPlan } from './plan.ts';
import { between, drawLogNormal, randomStream } from './random.ts';

/** Around the mean time per token: most gaps are near it … */
const GAP_FACTOR = between(0.85, 1.16);
/** … and one in 250 is a stall, milliseconds. */
const STALL_SHARE = 1 / 250;
const STALL_MS = between(150, 450);

export interface Completion {
  readonly plan: RequestPlan;
  readonly seed: number;
  readonly promptTokens: number;
  /** What the caller asked for: usage at the end, usage with every event (as vLLM offers). */
  readonly usage: { readonly include_usage?: boolean; readonly continuous_usage_stats?: boolean };
  readonly signal: AbortSignal;
}

/**
 * Streams an answer in the form of OpenAI chat completions: role frame, deltas, finish reason, usage when asked for, `[DONE]`.
 * Where the plan says so the connection breaks midway. Rejects when the signal says that the client has gone.
 */
export async function streamCompletion(response: ServerResponse, completion: Completion): Promise<void> {
  const { plan, promptTokens, signal } = completion;
  const head = { id: `chatcmpl-${plan.index}`, object: 'chat.completion.chunk', model: plan.model };
  const send = (body: object): boolean => response.write(`data: ${JSON.stringify({ ...head, ...body })}\n\n`);
  const choice = (delta: object, finishReason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const usage = (tokens: number) => ({
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: tokens,
      total_tokens: promptTokens + tokens,
      completion_tokens_details: { reasoning_tokens: Math.min(tokens, plan.reasoningTokens) },
    },
  });

  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  send(choice({ role: 'assistant', content: '' }));
  const gaps = gapsMs(completion);
  let tokens = 0;
  for (let events = 0; tokens < plan.outputTokens; events++) {
    if (events > 0) await wait(gaps.next().value, undefined, { signal });
    if (plan.interruption === 'cut' && events === plan.interruptAfterEvents) {
      response.destroy();
      return;
    }
    const reasoning = tokens < plan.reasoningTokens;
    const count = Math.min(plan.tokensPerEvent, plan.outputTokens - tokens);
    tokens += count;
    const text = 'token '.repeat(count);
    send({
      ...choice(reasoning ? { reasoning_content: text } : { content: text }),
      ...(completion.usage.continuous_usage_stats ? usage(tokens) : {}),
    });
  }
  send(choice({}, 'stop'));
  if (completion.usage.include_usage) send({ choices: [], ...usage(tokens) });
  response.end('data: [DONE]\n\n');
}

/** Times between neighbouring events: one of four tokens takes as long as four of one. */
function* gapsMs({ plan, seed }: Completion): Generator<number, never> {
  const random = randomStream(seed, `gaps ${plan.index}`);
  for (;;) {
    const stallMs = random() < STALL_SHARE ? drawLogNormal(random, STALL_MS) : 0;
    yield plan.tokenMs * plan.tokensPerEvent * drawLogNormal(random, GAP_FACTOR) + stallMs;
  }
}
