import express from 'express';
import { afterEach, expect, test, vi } from 'vitest';
import { currentTraceId, mark } from './index.ts';
import { ask, startTimedServer, type TimedServer } from './timedServer.ts';
import type { TimingHandler, TimingOptions } from './timing.ts';

let server: TimedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(routes: (app: express.Express) => void, options: TimingOptions = {}): Promise<TimedServer> {
  const listener = (timed: TimingHandler) => {
    const app = express().disable('x-powered-by');
    // Express prints errors in every environment but this one.
    app.set('env', 'test');
    app.use(timed);
    app.use(express.json());
    routes(app);
    return app;
  };
  server = await startTimedServer(() => undefined, options, listener);
  return server;
}

const JSON_POST = { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Trace-ID': 'f'.repeat(32) } };

test('behind a body parser the handler knows its request, and describe its body', async () => {
  const { url, timing, ingest } = await start(
    (app) => {
      app.post('/chat', (_req, res) => {
        mark('preprocess');
        res.json({ id: currentTraceId() });
      });
    },
    { describe: (req) => ({ model: req.body?.model, route: req.route?.path }) },
  );
  const answer = await ask(`${url}/chat`, JSON_POST, '{"model":"llama-3-70b"}');
  expect(JSON.parse(answer.body)).toEqual({ id: 'f'.repeat(32) });
  await timing.close();
  expect(ingest.records).toMatchObject([{ model: 'llama-3-70b', route: '/chat', status: 200 }]);
  expect(ingest.records[0]?.timing_trace).toMatch(/^[1-9]\d*,[1-9]\d*,[1-9]\d*,0,0,[1-9]\d*,[1-9]\d*$/);
});

test.each<[string, express.RequestHandler, number]>([
  [
    'throws',
    () => {
      throw new Error('a');
    },
    500,
  ],
  [
    'rejects',
    async () => {
      throw new Error('a');
    },
    500,
  ],
  ['passes an error on', (_req, _res, next) => next(Object.assign(new Error('a'), { status: 418 })), 418],
  ['does not exist', (_req, _res, next) => next(), 404],
])('a handler that %s gives one record, without a token', async (_name, handler, status) => {
  const { url, timing, ingest } = await start((app) => app.get('/', handler));
  expect((await ask(url)).status).toBe(status);
  await timing.close();
  expect(ingest.records).toMatchObject([{ status }]);
  expect(ingest.records[0]?.timing_trace).toMatch(/,0,0,0,0,0$/);
});

test.each<[string, express.RequestHandler, boolean]>([
  [
    'after writeHead',
    (_req, res) => {
      res.writeHead(200);
      throw new Error('a');
    },
    false,
  ],
  [
    'in mid-stream',
    (_req, res) => {
      res.type('text/event-stream').write('data: x\n\n');
      throw new Error('a');
    },
    true,
  ],
])('a handler that throws %s cuts the connection as without us, and gives one record', async (_name, handler) => {
  const { url, timing, ingest } = await start((app) => app.get('/', handler));
  await expect(ask(url)).rejects.toThrow(/hang up|aborted/);
  await vi.waitFor(() => expect(timing.stats.waiting).toBe(1));
  await timing.close();
  expect(ingest.records).toHaveLength(1);
});

test('send, sendFile, redirect and ETag revalidation work', async () => {
  const { url } = await start((app) => {
    app.get('/send', (_req, res) => res.send('sent'));
    app.get('/file', (_req, res) => res.sendFile(import.meta.filename));
    app.get('/redirect', (_req, res) => res.redirect('/send'));
  });
  const sent = await ask(`${url}/send`);
  expect(sent.body).toBe('sent');
  expect((await ask(`${url}/file`)).body).toContain('ETag revalidation');
  expect((await ask(`${url}/redirect`)).status).toBe(302);
  const fresh = await ask(`${url}/send`, { headers: { 'If-None-Match': String(sent.headers.etag) } });
  expect([fresh.status, fresh.body]).toEqual([304, '']);
});
