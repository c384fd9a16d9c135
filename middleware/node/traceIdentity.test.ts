import { createHash } from 'node:crypto';
import net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { currentTraceId } from './index.ts';
import { ask, startTimedServer, type TimedServer } from './timedServer.ts';

const T = '0af7651916cd43dd8448eb211c80319c';
const P = 'b7ad6b7169203331';
const OTHER = 'c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f';
const RANDOM = /^[0-9a-f]{32}$/;
const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

let server: TimedServer;
beforeEach(async () => {
  server = await startTimedServer((_req, res) => res.end(currentTraceId()));
});
afterEach(() => server.close());

test.each<[string, [string, string][], string, string, string?]>([
  [
    'X-Trace-ID first',
    [
      ['X-Trace-ID', OTHER],
      ['traceparent', `00-${T}-${P}-01`],
    ],
    OTHER,
    OTHER,
  ],
  [
    'its UUID spelling is echoed as given',
    [['X-Trace-ID', '7F3C9A10-55D2-4B8E-9C01-2E6FA4B7D813']],
    '7F3C9A10-55D2-4B8E-9C01-2E6FA4B7D813',
    '7f3c9a1055d24b8e9c012e6fa4b7d813',
  ],
  ['16 digits are padded', [['X-Trace-ID', P]], P, `0000000000000000${P}`],
  ['a text', [['X-Trace-ID', 'chatcmpl-abc123']], 'chatcmpl-abc123', hashed('chatcmpl-abc123')],
  ['traceparent, with its span', [['traceparent', `00-${T}-${P}-00`]], T, T, P],
  [
    'both of one trace',
    [
      ['X-Trace-ID', T],
      ['traceparent', `00-${T}-${P}-01`],
    ],
    T,
    T,
    P,
  ],
  [
    'an invalid X-Trace-ID is passed over',
    [
      ['X-Trace-ID', '-'],
      ['traceparent', `00-${T}-${P}-01`],
    ],
    T,
    T,
    P,
  ],
  [
    'X-Request-ID',
    [
      ['X-Trace-ID', '0'.repeat(32)],
      ['traceparent', `00-${T.toUpperCase()}-${P}-01`],
      ['X-Request-ID', OTHER],
    ],
    OTHER,
    OTHER,
  ],
  [
    'one on two lines is passed over',
    [
      ['X-Trace-ID', T],
      ['x-trace-id', T],
      ['X-Request-ID', OTHER],
    ],
    OTHER,
    OTHER,
  ],
])('%s', async (_name, headers, given, key, parentSpanId) => {
  const answer = await ask(`${server.url}/?trace_id=fromquery`, {
    headers: ['Host', 'x', ...headers.flat()],
  });
  expect(answer.headers['x-trace-id']).toBe(given);
  expect(answer.body).toBe(key);
  await server.timing.close();
  expect(server.ingest.records).toMatchObject([{ trace_id: given }]);
  expect(server.ingest.records[0]?.parent_span_id).toBe(parentSpanId);
});

test('the query parameter comes last, and only once', async () => {
  const echoed = async (path: string) => (await ask(server.url + path)).headers['x-trace-id'];
  expect(await echoed(`/?a=1&trace_id=${T}`)).toBe(T);
  expect(await echoed('/?trace_id=a%20b')).toBe('a b');
  for (const path of [
    `/?trace_id=${T}&trace_id=${T}`,
    '/?trace_id=',
    '/?trace_id=x%0d%0aSet-Cookie:%20a=b',
    '/?trace_id=%E5%8C%97',
    '/?trace_id=%',
    '/?x=1#?',
  ]) {
    const id = await echoed(path);
    if (path === '/?trace_id=%') expect(id).toBe('%');
    else expect(id).toMatch(RANDOM);
  }
});

test('without a valid id each request gets a random one; what is invalid is never echoed', async () => {
  const ids = new Set<unknown>();
  for (const id of [undefined, '', '-', '0'.repeat(32), 'x'.repeat(129)]) {
    const answer = await ask(server.url, id === undefined ? {} : { headers: { 'X-Trace-ID': id } });
    expect(answer.headers['x-trace-id']).toMatch(RANDOM);
    ids.add(answer.headers['x-trace-id']);
  }
  expect(ids.size).toBe(5);
});

test('a header of bytes beyond ASCII is invalid', async () => {
  const socket = net.connect(server.port, '127.0.0.1');
  socket.end(
    Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Trace-ID: \xe5\x8c\x97\r\n\r\n', 'latin1'),
  );
  let text = '';
  for await (const chunk of socket) text += chunk.toString('latin1');
  expect(text).toMatch(/\r\nX-Trace-ID: [0-9a-f]{32}\r\n/);
});
