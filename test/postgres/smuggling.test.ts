import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, query, type RunningService } from './service.ts';
import { traceId } from './serviceEvents.ts';
import { openRaw } from './serviceHttp.ts';
import { until } from './serviceWait.ts';

let service: RunningService;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.stop());

const HEAD = 'POST /v1/beacons HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';

/** A whole request that a proxy in front would have taken for the body of another. */
function hidden(key: string): string {
  const body = `{"v":1,"trace_id":"${key}","status":"complete"}`;
  return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

/** All that comes until the service closes the connection. */
async function answersTo(bytes: string): Promise<{ statuses: number[]; text: string }> {
  const { socket, received, closed } = await openRaw(service.publicUrl);
  socket.write(bytes, 'latin1');
  await closed;
  return { statuses: statusesIn(received()), text: received() };
}

/** The first so many answers, of a connection that stays open. */
async function firstAnswersTo(bytes: string, count: number): Promise<number[]> {
  const { socket, received } = await openRaw(service.publicUrl);
  socket.write(bytes, 'latin1');
  await until('the answers', () => statusesIn(received()).length >= count);
  socket.destroy();
  return statusesIn(received());
}

/** Each is read in two ways by two programs that are both of good will. */
const SHAPES: readonly (readonly [shape: string, begin: string])[] = [
  ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n'],
  ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n'],
  ['chunked, but not at last', 'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n'],
  ['a coding that does not exist', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
  ['identity', 'Transfer-Encoding: identity\r\n\r\n'],
  ['a blank before the colon', 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
  ['two lengths', 'Content-Length: 0\r\nContent-Length: 99\r\n\r\n'],
  ['the same length twice', 'Content-Length: 0\r\nContent-Length: 0\r\n\r\n'],
  ['a list of lengths', 'Content-Length: 0, 0\r\n\r\n'],
  ['a length with a sign', 'Content-Length: +0\r\n\r\n'],
  ['a negative length', 'Content-Length: -1\r\n\r\n'],
  ['a hexadecimal length', 'Content-Length: 0x0\r\n\r\n'],
  ['a length beyond 64 bits', 'Content-Length: 18446744073709551616\r\n\r\n'],
  ['a line feed alone', 'A: b\nContent-Length: 0\r\n\r\n'],
  ['a carriage return alone', 'A: b\rContent-Length: 0\r\n\r\n'],
  ['NUL in a value', 'A: b\0c\r\nContent-Length: 0\r\n\r\n'],
  ['a folded line', 'A: b\r\n Content-Length: 99\r\nContent-Length: 0\r\n\r\n'],
  ['a header without a name', ': b\r\nContent-Length: 0\r\n\r\n'],
  ['a blank in a name', 'A B: c\r\nContent-Length: 0\r\n\r\n'],
  ['chunks with line feeds alone', 'Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n'],
  ['a line feed in a chunk extension', 'Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\na\r\n0\r\n\r\n'],
  ['a line end in a quoted chunk extension', 'Transfer-Encoding: chunked\r\n\r\n1;a="\r\nb"\r\na\r\n0\r\n\r\n'],
  ['a chunk of negative length', 'Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n'],
  ['a chunk beyond 64 bits', 'Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\na\r\n0\r\n\r\n'],
  ['a chunk longer than it says', 'Transfer-Encoding: chunked\r\n\r\n1\r\naa\r\n0\r\n\r\n'],
  ['a length in the trailer', 'Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 99\r\n\r\n'],
];

describe('shapes of which two readers make two requests', () => {
  test.each(SHAPES)('%s: one refusal, and what follows is read by nobody', async (_, begin) => {
    const key = traceId();
    const { statuses } = await answersTo(HEAD + begin + hidden(key));
    expect(statuses).toHaveLength(1);
    expect([400, 413]).toContain(statuses[0]);
    expect(await query(service.databaseUrl, 'SELECT 1 FROM requests WHERE trace_id = $1', [key])).toEqual([]);
  });

  test('chunk extensions are bounded', async () => {
    const { statuses } = await answersTo(
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
    );
    expect(statuses).toEqual([413]);
  });

  test('HTTP/1.0 with chunks, HTTP/2 unasked, no HTTP', async () => {
    for (const bytes of [
      'POST /v1/beacons HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x00\x05hello',
    ])
      expect((await answersTo(bytes)).statuses).toEqual([400]);
    expect((await answersTo('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).statuses).toEqual([]);
  });

  test('what Node refuses before it reaches the service has no body to be taken for a page', async () => {
    const { text } = await answersTo('GET <script>alert(1)</script> HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/);
  });

  test('two right requests on one connection are two', async () => {
    const [one, other] = [traceId(), traceId()];
    expect(await firstAnswersTo(hidden(one) + hidden(other), 2)).toEqual([202, 202]);
    const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n2;name=value\r\n{}\r\n0\r\n\r\n`;
    expect(await firstAnswersTo(chunked + hidden(traceId()), 2)).toEqual([400, 202]);
  });
});
