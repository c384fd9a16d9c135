import { createServer } from 'node:http';
import { afterAll, beforeAll, test } from 'vitest';
import { createBackend } from '../../demo/backend.ts';
import { planRequest } from '../../demo/plan.ts';
import { type GatewayStage, type SentStream, type StagedBackend, startGatewayStage } from './gatewayStage.ts';
import { expectOneRecord, expectTimesToAgree, INTERRUPTIONS, TOKENS } from './gatewayStreams.ts';
import { listenOnLoopback } from './listen.ts';

const GAP_MS = 12;

/** The demo's backend, at a pace at which 200 streams take half a minute. */
async function startNodeBackend(ingestUrl: string, token: string): Promise<StagedBackend> {
  let requests = 0;
  const { app, timing } = createBackend({
    seed: 1,
    ingestUrl,
    token,
    planOf: (headers) => ({
      ...planRequest(1, 0, false),
      parseMs: 1,
      dbMs: null,
      preprocessMs: 5 + (requests++ % 40),
      kvLoadMs: 5,
      queueMs: 5,
      firstForwardMs: 10,
      serializeMs: 1,
      outputTokens: Number(headers['x-demo-tokens'] ?? TOKENS),
      reasoningTokens: 0,
      tokensPerEvent: 1,
      tokenMs: GAP_MS,
      interruption: null,
    }),
  });
  const sent = new Map<string, SentStream>();
  const server = createServer((request, response) => {
    const enteredAt = performance.now();
    const times: number[] = [];
    const { write } = response;
    // Before the middleware is there: its own time is the server's as well.
    response.write = ((...args: Parameters<typeof write>) => {
      const result = Reflect.apply(write, response, args);
      if (String(args[0]).includes('"content":"token')) times.push(performance.now());
      return result;
    }) as typeof write;
    response.once('finish', () => {
      const tpotMs = (times.at(-1)! - times[0]!) / (times.length - 1);
      sent.set(String(request.headers['x-trace-id']), { ttftMs: times[0]! - enteredAt, tpotMs });
    });
    app(request, response);
  });
  // One packet a token: a kernel that waits for more would measure itself.
  server.on('connection', (socket) => socket.setNoDelay(true));
  const port = await listenOnLoopback(server);
  return {
    port,
    sent: async () => sent,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await timing.close();
    },
  };
}

let stage: GatewayStage;
beforeAll(async () => {
  stage = await startGatewayStage(startNodeBackend);
});
afterAll(() => stage?.stop());

test('200 streams of the Node backend through nginx', { retry: 1 }, () => expectTimesToAgree(stage));

test.each(INTERRUPTIONS)('a stream of the Node backend that is %s', (interruption) =>
  expectOneRecord(stage, interruption),
);
