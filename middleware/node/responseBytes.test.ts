import { randomBytes } from 'node:crypto';
import type http from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, test } from 'vitest';
import type { Answer } from './ingestDouble.ts';
import { ask, startTimedServer, type TimedServer } from './timedServer.ts';

type Handler = (req: http.IncomingMessage, res: http.ServerResponse) => unknown;

const servers: TimedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** The same handler with and without the middleware. */
async function bothWays(handler: Handler, options: http.RequestOptions = {}) {
  const bare = await startTimedServer(handler, {}, () => handler);
  const timed = await startTimedServer(handler);
  servers.push(bare, timed);
  return { bare: await ask(bare.url, options), timed: await ask(timed.url, options), server: timed };
}

const OURS = new Set(['x-timing-trace', 'x-trace-id', 'date']);
const headersBut = (raw: readonly string[]): string[][] =>
  raw.flatMap((name, at) => (at % 2 === 0 && !OURS.has(name.toLowerCase()) ? [[name, raw[at + 1]!]] : []));

test.each<[string, Handler]>([
  ['end with a text', (_req, res) => res.end('text')],
  ['end with bytes, encoding and callback', (_req, res) => res.end('aGVsbG8=', 'base64', () => undefined)],
  ['end with a callback only', (_req, res) => res.end(() => undefined)],
  ['nothing', (_req, res) => res.end()],
  ['writeHead with a status only', (_req, res) => res.writeHead(201).end('x')],
  ['writeHead with a message', (_req, res) => res.writeHead(200, 'Fine').end('x')],
  [
    'writeHead with an object',
    (_req, res) => res.writeHead(200, { 'X-A': '1', 'Set-Cookie': ['a=1', 'b=2'] }).end('x'),
  ],
  ['writeHead with message and object', (_req, res) => res.writeHead(200, 'Fine', { 'X-A': 1 }).end('x')],
  ['writeHead with undefined and object', (_req, res) => res.writeHead(200, undefined, { 'X-A': 1 }).end('x')],
  ['writeHead with a flat list', (_req, res) => res.writeHead(200, ['X-A', '1', 'X-A', '2', 'X-B', '3']).end('x')],
  ['writeHead with message and flat list', (_req, res) => res.writeHead(200, 'Fine', ['X-A', '1']).end('x')],
  [
    'writeHead with pairs',
    (_req, res) =>
      res
        .writeHead(200, [
          ['X-A', '1'],
          ['X-B', '2'],
        ] as never)
        .end('x'),
  ],
  [
    'headers before a flat list',
    (_req, res) => res.setHeader('X-A', '0').writeHead(200, ['X-A', '1', 'X-A', '2']).end('x'),
  ],
  ['headers before an object', (_req, res) => res.setHeader('X-A', '0').writeHead(200, { 'x-a': '1' }).end('x')],
  ['a length of its own', (_req, res) => res.writeHead(200, { 'Content-Length': 4 }).end('text')],
  ['no content', (_req, res) => res.writeHead(204).end()],
  ['not modified', (_req, res) => res.writeHead(304, { ETag: '"a"' }).end()],
  [
    'several encodings',
    (_req, res) => {
      res.write('\u5317', 'utf8');
      res.write('e58c97', 'hex');
      res.write('\xff', 'latin1');
      res.write(new Uint8Array([0, 255, 10]));
      res.end('a', 'utf16le');
    },
  ],
  [
    'trailers',
    (req, res) => {
      // Node refuses the header where there is no chunked body.
      res.writeHead(200, req.method === 'HEAD' ? {} : { Trailer: 'X-End' });
      res.write('x');
      res.addTrailers({ 'X-End': '1' });
      res.end();
    },
  ],
  [
    'a corked response',
    (_req, res) => {
      res.cork();
      res.writeHead(200);
      res.write('a');
      res.write('b');
      // Before the end: Node 22 itself breaks the framing of what is uncorked after it.
      res.uncork();
      res.end('c');
    },
  ],
  [
    'empty chunks',
    (_req, res) => {
      res.write('');
      res.write('x');
      res.write('');
      res.end('');
    },
  ],
])('%s: the same status, headers and bytes', async (_name, handler) => {
  for (const method of ['GET', 'HEAD']) {
    const { bare, timed } = await bothWays(handler, { method });
    expect(timed.body).toBe(bare.body);
    expect(timed.status).toBe(bare.status);
    expect(headersBut(timed.rawHeaders)).toEqual(headersBut(bare.rawHeaders));
    expect(timed.headers['x-timing-trace']).toMatch(/^\d+(,\d+){6}$/);
  }
});

test('a large body is the same after back-pressure, with drain and callbacks in order', async () => {
  const body = randomBytes(8 * 1024 * 1024);
  const seen: string[] = [];
  const server = await startTimedServer(async (_req, res) => {
    let paused = false;
    for (let at = 0; at < body.length; at += 65_536) {
      const goOn = res.write(body.subarray(at, at + 65_536), () => undefined);
      if (goOn) continue;
      paused = true;
      await new Promise((resolve) => res.once('drain', resolve));
    }
    seen.push(`paused ${paused}`);
    res.write('', () => seen.push('written'));
    res.end(() => seen.push('ended'));
  });
  servers.push(server);
  const answer = await ask(server.url);
  expect(Buffer.concat(answer.chunks).equals(body)).toBe(true);
  expect(seen).toEqual(['paused true', 'written', 'ended']);
});

test('pipe and pipeline keep every byte', async () => {
  const body = randomBytes(3_000_000);
  const slices = Array.from({ length: 30 }, (_, at) => body.subarray(at * 100_000, (at + 1) * 100_000));
  const server = await startTimedServer((req, res) => {
    const pieces = Readable.from(slices);
    if (req.url === '/pipe') pieces.pipe(res);
    else void pipeline(pieces, res);
  });
  servers.push(server);
  for (const path of ['/pipe', '/pipeline']) {
    const answer = await ask(server.url + path);
    expect(Buffer.concat(answer.chunks).equals(body)).toBe(true);
  }
});

test('a request body that is piped back is whole', async () => {
  const text = 'x'.repeat(1_000_000);
  const server = await startTimedServer((req, res) => req.pipe(res));
  servers.push(server);
  expect((await ask(server.url, { method: 'POST' }, text)).body).toBe(text);
});

test('what Node refuses is refused alike', async () => {
  const errors: unknown[] = [];
  const server = await startTimedServer((_req, res) => {
    for (const wrong of [() => res.write(null as never), () => res.write(7 as never)]) {
      try {
        wrong();
      } catch (error) {
        errors.push((error as NodeJS.ErrnoException).code);
      }
    }
    res.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code));
    res.end('x');
    res.write('late');
  });
  servers.push(server);
  expect((await ask(server.url)).body).toBe('x');
  expect(errors).toEqual(['ERR_STREAM_NULL_VALUES', 'ERR_INVALID_ARG_TYPE', 'ERR_STREAM_WRITE_AFTER_END']);
});

test('an upgrade passes the middleware by', async () => {
  const server = await startTimedServer((_req, res) => res.end('plain'));
  servers.push(server);
  const answer = await ask(server.url, { headers: { Connection: 'Upgrade', Upgrade: 'websocket' } });
  expect(answer.body).toBe('plain');
});

test.each<[string, Answer | null, string?]>([
  ['is down', null, 'http://127.0.0.1:1'],
  ['hangs', null],
  ['says 503', { status: 503, body: '' }],
])('the answers are the same while the ingest %s, and their records wait', async (_name, answer, ingestUrl) => {
  const server = await startTimedServer((_req, res) => res.end('answer'), ingestUrl === undefined ? {} : { ingestUrl });
  servers.push(server);
  server.ingest.answer = () => answer;
  expect((await ask(server.url)).body).toBe('answer');
  if (ingestUrl === undefined) await server.ingest.until(() => server.ingest.posts.length > 0);
  for (let request = 1; request < 20; request++) expect((await ask(server.url)).body).toBe('answer');
  expect(server.timing.stats).toEqual({ sent: 0, dropped: 0, failed: 0, waiting: 20 });
  server.ingest.answer = () => ({ status: 202 });
  await server.timing.close(answer === null ? 0 : undefined);
  expect(server.timing.stats).toMatchObject(answer === null ? { sent: 0, dropped: 20 } : { sent: 20, dropped: 0 });
});
