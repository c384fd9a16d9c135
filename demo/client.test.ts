import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Beacon } from '../contract/beacon.ts';
import { type GatewayLogLine, readGatewayLine } from '../contract/gatewayLog.ts';
import { MAX_TEXT_LENGTH } from '../contract/limits.ts';
import type { ServerRecord } from '../contract/serverRecord.ts';
import { parseServerTiming } from '../contract/serverTiming.ts';
import { parseTimingTrace } from '../contract/timingTrace.ts';
import { type Backend, createBackend } from './backend.ts';
import { createBeaconSender } from './beaconSender.ts';
import { type ClientResult, runClient } from './client.ts';
import { createGateway } from './gateway.ts';
import { planRequest, type RequestPlan } from './plan.ts';
import type { ScenarioName } from './scenarios.ts';

/**
 * Client, gateway, backend and middleware as the demo runs them, against an ingest that only listens. Stages and tokens take the
 * time drawn for them, so the requests are chosen short, and run all at once.
 */
const SEED = 7;

function shortPlan(scenario: ScenarioName, suits: (plan: RequestPlan) => boolean = () => true): RequestPlan {
  for (let index = 0; ; index++) {
    const plan = planRequest(SEED, index, false);
    const events = Math.ceil(plan.outputTokens / plan.tokensPerEvent);
    if (plan.scenario === scenario && plan.outputTokens <= 16 && events >= 4 && suits(plan)) return plan;
  }
}

const PLANS = {
  normal: shortPlan('normal', ({ device, reasoningTokens }) => device === 'desktop' && reasoningTokens === 0),
  mobile: shortPlan('normal', ({ device }) => device === 'mobile'),
  reasoning: shortPlan('normal', ({ reasoningTokens }) => reasoningTokens > 0),
  queue: shortPlan('queue_burst'),
  db: shortPlan('slow_db'),
  batch: shortPlan('batch_of_8'),
  buffered: shortPlan('buffering_proxy'),
  speculative: shortPlan('speculative'),
  abort: shortPlan('user_abort'),
  cut: shortPlan('cut_stream'),
  hidden: shortPlan('hidden_page'),
} as const;
type Name = keyof typeof PLANS;

const beacons: Beacon[] = [];
const records: ServerRecord[] = [];
const bodies: string[] = [];
const gatewayLines: GatewayLogLine[] = [];
const servers: Server[] = [];
let backend: Backend;
let results: Record<Name, ClientResult>;

const listen = async (server: Server): Promise<string> => {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
};
const beaconsOf = (name: Name): Beacon[] => beacons.filter(({ trace_id: id }) => id === results[name].traceId);
const finalOf = (name: Name): Beacon => beaconsOf(name).at(-1)!;
const recordOf = (name: Name): ServerRecord => records.find(({ trace_id: id }) => id === results[name].traceId)!;
const stagesOf = (name: Name) => {
  const trace = parseTimingTrace(String(recordOf(name).timing_trace));
  if (!trace.ok) throw new Error(trace.rejection.message);
  return trace.value;
};

beforeAll(async () => {
  const ingest = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    bodies.push(body);
    const events = body.split('\n').filter((line) => line !== '');
    for (const event of events) (request.url === '/v1/beacons' ? beacons : records).push(JSON.parse(event));
    response.writeHead(202, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ accepted: events.length, rejected: [] }));
  });
  const ingestUrl = await listen(ingest);
  backend = createBackend({ seed: SEED, ingestUrl, token: 'write-token' });
  const backendUrl = await listen(createServer(backend.app));
  const gatewayUrl = await listen(
    createGateway(SEED, Number(new URL(backendUrl).port), {
      write: (line) => void gatewayLines.push(JSON.parse(line)),
      close: async () => {},
    }),
  );
  const { send } = createBeaconSender(ingestUrl);
  const ran = Object.entries(PLANS).map(async ([name, plan]) => [
    name,
    await runClient(plan, { gatewayUrl, send, signal: new AbortController().signal }),
  ]);
  results = Object.fromEntries(await Promise.all(ran));
  // Posts what waits, so that the records are here.
  await backend.timing.close();
}, 30_000);

afterAll(async () => {
  for (const server of servers.reverse()) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

it('leaves a line in the gateway log that tells how long the request was held', () => {
  const line = gatewayLines.find((each) => each.trace_id === results.normal.traceId);
  const read = readGatewayLine(line!);
  expect(read).toMatchObject({ ok: true, value: { status: 200 } });
  // Timers fire up to a millisecond early, and nginx's resolution is another one.
  if (read.ok) expect(read.value.gatewayNs! / 1e6).toBeGreaterThanOrEqual(PLANS.normal.gatewayHoldMs - 2);
});

describe('a normal request', () => {
  it('is complete, with each token dated and counted', () => {
    const { outputTokens } = PLANS.normal;
    expect(finalOf('normal')).toMatchObject({
      status: 'complete',
      seq: 1,
      output_tokens: outputTokens,
      output_tokens_source: 'usage',
      coalesced: false,
      prompt_chars: PLANS.normal.promptChars,
    });
    expect(finalOf('normal').arrivals_ms).toHaveLength(outputTokens);
    expect(finalOf('normal').ttft_ms).toBe(finalOf('normal').arrivals_ms?.[0]);
  });

  it('took what was drawn, stage by stage, on the server and as seen by the client', () => {
    const plan = PLANS.normal;
    const { stagesNs, stampCount, ttftNs } = stagesOf('normal');
    const atLeast = (ns: number | null, ms: number): void => expect(Number(ns)).toBeGreaterThan((ms - 3) * 1e6);
    expect(stampCount).toBe(7);
    atLeast(stagesNs.preprocess, plan.preprocessMs);
    atLeast(stagesNs.kv_load, plan.kvLoadMs);
    atLeast(stagesNs.first_token, plan.queueMs + plan.firstForwardMs);
    atLeast(stagesNs.serialize, plan.serializeMs);
    atLeast(recordOf('normal').sub_stages?.['parse'] ?? null, plan.parseMs);
    expect(Number(finalOf('normal').ttft_ms)).toBeGreaterThan(Number(ttftNs) / 1e6 + plan.gatewayHoldMs - 3);
  });

  it('echoes the stamps of the header, taken before the first token', () => {
    const echo = parseTimingTrace(String(finalOf('normal').timing_trace));
    expect(echo.ok && echo.value.stampCount).toBeGreaterThanOrEqual(4);
  });

  it('tells the server its tokens of the prompt', () => {
    expect(recordOf('normal').prompt_tokens).toBe(Math.ceil(PLANS.normal.promptChars / 4));
    expect(recordOf('normal').output_tokens).toBe(PLANS.normal.outputTokens);
  });
});

describe('the other requests', () => {
  it('wait for their connection on mobile, before the request leaves', () => {
    const { ttftNs } = stagesOf('mobile');
    const beforeMs = Number(finalOf('mobile').ttft_ms) - Number(ttftNs) / 1e6;
    expect(beforeMs).toBeGreaterThan(PLANS.mobile.connectMs - 3);
  });

  it('show reasoning before the first visible token', () => {
    const { ttft_ms: first, ttft_visible_ms: visible } = finalOf('reasoning');
    expect(Number(visible)).toBeGreaterThan(Number(first));
  });

  it('report their queue, inside the time of the first token', () => {
    const [queue] = parseServerTiming(String(recordOf('queue').server_timing));
    expect(queue?.name).toBe('queue');
    expect(queue?.dur).toBeGreaterThan(PLANS.queue.queueMs - 3);
    expect((queue?.dur ?? 0) * 1e6).toBeLessThan(Number(stagesOf('queue').stagesNs.first_token));
  });

  it('report a slow query as a sub-stage, and their batch', () => {
    expect(Number(recordOf('db').sub_stages?.['db'])).toBeGreaterThan(((PLANS.db.dbMs ?? 0) - 3) * 1e6);
    expect(recordOf('batch').batch_size).toBe(8);
  });

  it('see that a proxy held the stream back', () => {
    expect(finalOf('buffered')).toMatchObject({ status: 'complete', coalesced: true });
    expect(Number(finalOf('buffered').ttft_ms)).toBeGreaterThan(Number(stagesOf('buffered').ttftNs) / 1e6 + 200);
  });

  it('know how many tokens a speculative event bears', () => {
    const { chunk_tokens: chunks, output_tokens: tokens } = finalOf('speculative');
    expect(chunks?.[0]).toBe(4);
    expect(chunks?.reduce((sum, count) => sum + count, 0)).toBe(tokens);
  });

  it('end in the middle when the user stops them, at the server too', () => {
    const { status, arrivals_ms: arrivals } = finalOf('abort');
    expect(status).toBe('aborted');
    expect(arrivals?.length).toBeLessThan(PLANS.abort.outputTokens);
    expect(recordOf('abort').output_tokens).toBeUndefined();
  });

  it('know a cut stream from a finished one', () => {
    expect(finalOf('cut')).toMatchObject({ status: 'truncated' });
    expect(finalOf('cut').arrivals_ms).toHaveLength(PLANS.cut.interruptAfterEvents);
    expect(recordOf('cut')).toBeDefined();
  });

  it('send an interim beacon when their page goes hidden, and a final one', () => {
    const [interim, final] = beaconsOf('hidden');
    expect(interim).toMatchObject({ status: 'streaming', seq: 1, hidden: true });
    expect(interim).not.toHaveProperty('end_ms');
    expect(final).toMatchObject({ status: 'complete', seq: 2, hidden: true });
    expect(interim?.arrivals_ms?.length).toBeLessThan(final?.arrivals_ms?.length ?? 0);
  });

  it('all have both halves', () => {
    for (const name of Object.keys(PLANS) as Name[]) {
      expect(recordOf(name), name).toBeDefined();
      expect(finalOf(name), name).toBeDefined();
    }
  });
});

describe('privacy', () => {
  it('sends neither prompt nor answer to the ingest', () => {
    for (const body of bodies) {
      expect(body).not.toContain('why was');
      expect(body).not.toContain('token token');
    }
    const texts = [...beacons, ...records]
      .flatMap((event) => Object.values(event))
      .filter((value) => typeof value === 'string');
    for (const text of texts) expect(text.length).toBeLessThan(MAX_TEXT_LENGTH * 2);
  });
});
