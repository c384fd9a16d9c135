import http from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { factsEvent } from './index.ts';
import { StreamTail } from './streamTail.ts';
import { ask, startTimedServer, type TimedServer } from './timedServer.ts';

const TOKEN = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const DONE = 'data: [DONE]\n\n';
const SSE = { 'Content-Type': 'text/event-stream' };
const EVENT = /event: firsttoken\ndata: (\{"trace_id":"from-the-page",.*\})\n\n$/;

type Handler = (req: http.IncomingMessage, res: http.ServerResponse) => unknown;

let server: TimedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function answerOf(handler: Handler, options: http.RequestOptions = {}) {
  await server?.close();
  server = await startTimedServer(handler, { factsEvent: true });
  return ask(`${server.url}/?trace_id=from-the-page`, options);
}

test.each<[string, Handler]>([
  ['a chunk and an end', (_req, res) => res.writeHead(200, SSE).write(TOKEN) && res.end(DONE)],
  ['all in end', (_req, res) => res.writeHead(200, SSE).end(TOKEN + DONE, 'utf8', () => undefined)],
  ['bytes', (_req, res) => res.writeHead(200, SSE).end(Buffer.from(TOKEN + DONE))],
  ['another encoding', (_req, res) => res.writeHead(200, SSE).end(Buffer.from(TOKEN + DONE).toString('hex'), 'hex')],
  ['no writeHead', (_req, res) => res.setHeader('Content-Type', 'text/event-stream').end(TOKEN + DONE)],
  ['a pipe', (_req, res) => Readable.from([TOKEN, DONE]).pipe(res.writeHead(200, SSE))],
  [
    'a callback alone',
    (_req, res) => {
      res.writeHead(200, SSE).write(TOKEN + DONE);
      res.end(() => undefined);
    },
  ],
])('%s: the same bytes, and then the event, with all stamps', async (_name, handler) => {
  const { body } = await answerOf(handler);
  const [event, json] = EVENT.exec(body) ?? [];
  expect(body).toBe(TOKEN + DONE + event);
  await server!.timing.close();
  expect(JSON.parse(json!).timing_trace).toBe(server!.ingest.records[0]?.timing_trace);
  expect(server!.ingest.records[0]?.timing_trace).toMatch(/,0,0,0,[1-9]\d*,[1-9]\d*$/);
});

test.each<[string, Handler, http.RequestOptions?]>([
  ['JSON', (_req, res) => res.setHeader('Content-Type', 'application/json').end('{}')],
  ['an error', (_req, res) => res.writeHead(500, SSE).end(DONE)],
  ['HEAD', (_req, res) => res.writeHead(200, SSE).end(), { method: 'HEAD' }],
  ['a promised length', (_req, res) => res.writeHead(200, { ...SSE, 'Content-Length': DONE.length }).end(DONE)],
  ['a stream compressed above us', (_req, res) => res.writeHead(200, { ...SSE, 'Content-Encoding': 'gzip' }).end(DONE)],
  ['an answer that stops inside an event', (_req, res) => res.writeHead(200, SSE).end('data: half\n')],
])('%s gets none, and is sent as without the option', async (_name, handler, options) => {
  const timed = await answerOf(handler, options);
  await server!.close();
  server = await startTimedServer(handler);
  const plain = await ask(`${server.url}/?trace_id=from-the-page`, options);
  expect(timed.body).toBe(plain.body);
  const framing = ({ headers }: typeof plain) => [headers['content-length'], headers['transfer-encoding']];
  expect(framing(timed)).toEqual(framing(plain));
});

test("the app's own event is not followed by a second", async () => {
  const { body } = await answerOf((_req, res) => {
    res.writeHead(200, SSE).write(TOKEN);
    res.end(factsEvent());
  });
  expect(body.match(/event: firsttoken/g)).toHaveLength(1);
});

test('a client that has left gets nothing, and gives one record', async () => {
  let left!: () => void;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const written: unknown[] = [];
  server = await startTimedServer(
    () => undefined,
    { factsEvent: true },
    (timed) => (req, res) => {
      const { write } = res;
      res.write = (...args: unknown[]) => {
        written.push(args[0]);
        return Reflect.apply(write, res, args);
      };
      timed(req, res, () => {
        res.writeHead(200, SSE).write(TOKEN);
        res.on('close', () => {
          res.end(DONE);
          left();
        });
      });
    },
  );
  http
    .get(server.url, { agent: false }, (res) => res.on('error', () => undefined).once('data', () => res.destroy()))
    .on('error', () => undefined);
  await gone;
  await server.timing.close();
  expect(written).toEqual([TOKEN]);
  expect(server.ingest.records).toHaveLength(1);
});

test('a reader that is slower than the answer gets all of it, then the event', async () => {
  const text = `data: ${'x'.repeat(1_000_000)}\n\n`;
  const { body } = await answerOf((_req, res) => {
    const source = new PassThrough();
    source.pipe(res.writeHead(200, SSE));
    for (let at = 0; at < 5; at++) source.write(text);
    source.end(DONE);
  });
  expect(body.replace(EVENT, '')).toBe(text.repeat(5) + DONE);
  expect(body).toMatch(EVENT);
});

test('whether a stream stops between events, however it is cut', () => {
  const piece = fc.constantFrom('data: x', '\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '北');
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.integer({ min: 1, max: 6 })), (pieces, sizes) => {
      const bytes = Buffer.from(`data: x${pieces.join('')}`);
      const tail = new StreamTail();
      let at = 0;
      for (const size of [...sizes, bytes.length]) {
        tail.add(bytes.subarray(at, at + size), 'utf8');
        at += size;
      }
      const lines = bytes.toString().split(/\r\n|\r|\n/);
      expect(tail.betweenEvents).toBe(lines.length > 2 && lines.at(-1) === '' && lines.at(-2) === '');
    }),
  );
});
