import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { type FastifyTimingOptions, fastifyTiming } from './fastify.ts';
import { currentTraceId, mark } from './index.ts';
import { type IngestDouble, startIngestDouble } from './ingestDouble.ts';
import { ask } from './timedServer.ts';

const TOKEN = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const ID = 'f'.repeat(32);
const JSON_POST = { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Trace-ID': ID } };

let app: FastifyInstance | undefined;
let ingest: IngestDouble | undefined;
afterEach(async () => {
  await app?.close();
  await ingest?.close();
  app = ingest = undefined;
});

async function start(routes: (app: FastifyInstance) => void, options: FastifyTimingOptions = {}) {
  ingest = await startIngestDouble();
  const timed = fastifyTiming({ ingestUrl: ingest.url, token: 'write-token', ...options });
  app = Fastify({ forceCloseConnections: true });
  app.register(timed);
  // Encapsulated, as most apps' routes are: the hooks reach them all the same.
  app.register(async (scope) => routes(scope));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url, timed, app, ingest };
}

test('behind the body parser the handler knows its request; describe gets body and route', async () => {
  const { url, app, ingest } = await start(
    (scope) => {
      scope.post('/chat/:id', async () => {
        mark('preprocess');
        return { id: currentTraceId() };
      });
    },
    { describe: (request) => ({ model: request.body?.model, route: request.routeOptions.url }) },
  );
  const answer = await ask(`${url}/chat/7`, JSON_POST, '{"model":"llama-3-70b"}');
  expect(JSON.parse(answer.body)).toEqual({ id: ID });
  expect(answer.headers['x-trace-id']).toBe(ID);
  // The plugin sends what waits when the app closes.
  await app.close();
  expect(ingest.records).toMatchObject([{ trace_id: ID, model: 'llama-3-70b', route: '/chat/:id', status: 200 }]);
  expect(ingest.records[0]?.timing_trace).toMatch(/^[1-9]\d*,[1-9]\d*,[1-9]\d*,0,0,[1-9]\d*,[1-9]\d*$/);
});

test('a stream, sent or written past Fastify, has its stamps', async () => {
  const { url, app, ingest } = await start((scope) => {
    scope.get('/sent', (_request, reply) => reply.type('text/event-stream').send(Readable.from([TOKEN, TOKEN])));
    scope.get('/raw', (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'Content-Type': 'text/event-stream' });
      reply.raw.write(TOKEN);
      reply.raw.end(TOKEN);
    });
  });
  for (const path of ['/sent', '/raw']) {
    const answer = await ask(url + path);
    expect(answer.body).toBe(TOKEN + TOKEN);
    expect(answer.headers['x-timing-trace']).toMatch(/^[1-9]\d*,[1-9]\d*,0,0,0,[1-9]\d*,0$/);
  }
  await app.close();
  expect(ingest.records).toHaveLength(2);
  for (const { timing_trace } of ingest.records) expect(timing_trace).toMatch(/,0,0,0,[1-9]\d*,[1-9]\d*$/);
});

test('errors, an unknown route and a body that does not parse give one record each, without a token', async () => {
  const { url, app, ingest } = await start((scope) => {
    scope.get('/throws', async () => {
      throw Object.assign(new Error('a'), { statusCode: 418 });
    });
    scope.post('/chat', async () => 'never');
  });
  const answers = [
    await ask(`${url}/throws`),
    await ask(`${url}/nowhere`),
    await ask(`${url}/chat`, JSON_POST, '{"model":'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([418, 404, 400]);
  await app.close();
  expect(ingest.records.map(({ status }) => status)).toEqual([418, 404, 400]);
  for (const { timing_trace } of ingest.records) expect(timing_trace).toMatch(/,0,0,0,0,0$/);
});

test("Fastify's own test requests pass", async () => {
  const { app, timed } = await start((scope) => {
    scope.get('/', async () => ({ id: currentTraceId() }));
  });
  const answer = await app.inject({ url: '/', headers: { 'x-trace-id': ID } });
  expect(answer.json()).toEqual({ id: ID });
  expect(answer.headers['x-timing-trace']).toBeDefined();
  expect(timed.stats.waiting).toBe(1);
});

test('a wrong option throws at once', () => {
  expect(() => fastifyTiming({ tokens: 'none' as never })).toThrow(TypeError);
});
