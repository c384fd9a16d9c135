import { Readable } from 'node:stream';
import Koa from 'koa';
import { afterEach, expect, test } from 'vitest';
import { currentTraceId, mark, span } from './index.ts';
import { startIngestDouble } from './ingestDouble.ts';
import { type KoaTimingOptions, koaTiming } from './koa.ts';
import { ask } from './timedServer.ts';

const TOKEN = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const ID = 'f'.repeat(32);

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

async function start(handler: Koa.Middleware, options: KoaTimingOptions = {}) {
  const ingest = await startIngestDouble();
  const timed = koaTiming({ ingestUrl: ingest.url, token: 'write-token', ...options });
  const app = new Koa();
  app.silent = true;
  app.use(timed);
  app.use(async (ctx, next) => {
    // The context must outlive the middlewares in between.
    await new Promise((resolve) => setImmediate(resolve));
    await next();
    ctx.set('X-After', String(currentTraceId()));
  });
  app.use(handler);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await timed.close();
    await ingest.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, timed, ingest };
}

test('a piped stream has its stamps, and describe gets the context', async () => {
  const { url, timed, ingest } = await start(
    async (ctx) => {
      mark('preprocess');
      await span('db', () => new Promise((resolve) => setImmediate(resolve)));
      ctx.state.model = 'llama-3-70b';
      ctx.type = 'text/event-stream';
      ctx.body = Readable.from([TOKEN, 'data: [DONE]\n\n']);
    },
    { describe: (ctx) => ({ model: ctx.state.model, route: ctx.path }) },
  );
  const answer = await ask(`${url}/chat`, { headers: { 'X-Trace-ID': ID } });
  expect(answer.body).toBe(`${TOKEN}data: [DONE]\n\n`);
  expect(answer.headers['x-after']).toBe(ID);
  expect(answer.headers['x-timing-trace']).toMatch(/^[1-9]\d*,[1-9]\d*,[1-9]\d*,0,0,[1-9]\d*,0$/);
  await timed.close();
  expect(ingest.records).toMatchObject([{ trace_id: ID, model: 'llama-3-70b', route: '/chat', status: 200 }]);
  expect(ingest.records[0]?.timing_trace).toMatch(/^[1-9]\d*,[1-9]\d*,[1-9]\d*,0,0,[1-9]\d*,[1-9]\d*$/);
  expect(Object.keys(ingest.records[0]?.sub_stages ?? {})).toEqual(['db']);
});

test.each<[string, Koa.Middleware, number]>([
  [
    'throws',
    () => {
      throw new Error('a');
    },
    500,
  ],
  [
    'rejects',
    async (ctx) => {
      ctx.throw(418);
    },
    418,
  ],
  ['answers nothing', () => undefined, 404],
])('a handler that %s is answered as without us, and gives one record', async (_name, handler, status) => {
  const { url, timed, ingest } = await start(handler);
  expect((await ask(url)).status).toBe(status);
  await timed.close();
  expect(ingest.records).toMatchObject([{ status }]);
  expect(ingest.records[0]?.timing_trace).toMatch(/,0,0,0,0,0$/);
});

test('JSON answers, HEAD and a client that revalidates work', async () => {
  const { url, timed, ingest } = await start((ctx) => {
    ctx.body = { a: 1 };
    ctx.etag = 'x';
    if (ctx.fresh) ctx.status = 304;
  });
  expect((await ask(url)).body).toBe('{"a":1}');
  expect((await ask(url, { method: 'HEAD' })).headers['content-length']).toBe('7');
  expect((await ask(url, { headers: { 'If-None-Match': '"x"' } })).status).toBe(304);
  await timed.close();
  expect(ingest.records.map(({ status }) => status)).toEqual([200, 200, 304]);
});

test('a wrong option throws at once', () => {
  expect(() => koaTiming({ holdMs: -1 })).toThrow(TypeError);
});
