import { afterEach, expect, test } from 'vitest';
import { currentTraceId, mark, observationOf } from './index.ts';
import { ask, startTimedServer, type TimedServer } from './timedServer.ts';

let server: TimedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test('without a context the request itself is asked', async () => {
  const seen: unknown[] = [];
  server = await startTimedServer(
    async (req, res) => {
      const request = observationOf(req)!;
      seen.push(mark('preprocess'), currentTraceId(), request.mark('preprocess'), request.mark('preprocess'));
      seen.push(await request.span('db', async () => 'rows'));
      request.describe({ model: 'tiny' });
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.end(`data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n${request.factsEvent()}`);
    },
    { context: false, factsEvent: true },
  );
  const { body, headers } = await ask(server.url);
  expect(seen).toEqual([false, undefined, true, false, 'rows']);
  // Once, though the middleware would add it too.
  expect(body.match(/event: firsttoken/g)).toHaveLength(1);
  await server.timing.close();
  expect(server.ingest.records).toEqual([
    expect.objectContaining({
      trace_id: headers['x-trace-id'],
      model: 'tiny',
      sub_stages: { db: expect.any(Number) },
      timing_trace: expect.stringMatching(/^[1-9]\d*,[1-9]\d*,[1-9]\d*,0,0,[1-9]\d*,[1-9]\d*$/),
    }),
  ]);
});

test('a request that the middleware has not seen has no observation', () => {
  expect(observationOf({} as never)).toBeUndefined();
});
