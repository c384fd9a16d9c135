import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../contract/limits.ts';
import { singleHeader, traceIdSources } from './headers.ts';
import { hasBody, readBody } from './readBody.ts';

/** What Node makes of bytes on a socket is half of what these functions are about, so they get real ones. */
const server = http.createServer();
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Sends raw bytes and gives what `read` makes of the request that Node sees. */
async function received<T>(
  head: readonly string[],
  read: (request: IncomingMessage) => T | Promise<T>,
  body: Buffer | string = '',
  end = false,
): Promise<T> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  const arrived = once(server, 'request') as Promise<[IncomingMessage, http.ServerResponse]>;
  socket.write(`${['POST / HTTP/1.1', 'Host: localhost', ...head].join('\r\n')}\r\n\r\n`);
  const [request] = await arrived;
  const result = Promise.resolve(read(request));
  socket.write(body);
  if (end) socket.destroy();
  const value = await result;
  socket.destroy();
  return value;
}

describe('a header that may stand once', () => {
  const trace = (...lines: string[]) => received(lines, (request) => singleHeader(request, 'x-timing-trace'));
  const AMBIGUOUS = { value: null, ambiguous: true };

  test('absent, once, empty', async () => {
    expect(await trace()).toEqual({ value: null, ambiguous: false });
    expect(await trace('X-Timing-Trace: 1,2,3,4,5,6,7')).toEqual({ value: '1,2,3,4,5,6,7', ambiguous: false });
    expect(await trace('x-timing-TRACE:   1,2,3  ')).toEqual({ value: '1,2,3', ambiguous: false });
    expect(await trace('X-Timing-Trace:')).toEqual({ value: '', ambiguous: false });
  });

  test.each([
    ['two whole ones', ['X-Timing-Trace: 1,2,3,4,5,6,7', 'X-Timing-Trace: 11,12,13,14,15,16,17']],
    ['two that make one when joined', ['X-Timing-Trace: 1,2,3', 'X-Timing-Trace: 4,5,6,7']],
    ['the same twice', ['X-Timing-Trace: 1', 'X-Timing-Trace: 1']],
    ['apart, in other letters', ['X-Timing-Trace: 1', 'Accept: */*', 'x-timing-trace: 2']],
    ['an empty second line', ['X-Timing-Trace: 1', 'X-Timing-Trace:']],
    ['an empty first line', ['X-Timing-Trace:', 'X-Timing-Trace: 1']],
    ['two empty lines', ['X-Timing-Trace:', 'X-Timing-Trace:']],
    ['three lines', ['X-Timing-Trace: 1', 'X-Timing-Trace: 2', 'X-Timing-Trace: 3']],
  ])('%s: ambiguous', async (_name, lines) => {
    expect(await trace(...lines)).toEqual(AMBIGUOUS);
  });

  test('ids from headers', async () => {
    expect(await received(['X-Trace-ID: a', 'traceparent: b', 'X-Request-ID: c'], traceIdSources)).toEqual({
      xTraceId: 'a',
      traceparent: 'b',
      xRequestId: 'c',
      ambiguous: false,
    });
    expect(await received(['trace-parent: b'], traceIdSources)).toMatchObject({ traceparent: null, ambiguous: false });
    for (const name of ['X-Trace-ID', 'traceparent', 'X-Request-ID'])
      expect(await received([`${name}: a`, `${name}: a`], traceIdSources)).toEqual({
        xTraceId: null,
        traceparent: null,
        xRequestId: null,
        ambiguous: true,
      });
  });
});

describe('a body', () => {
  const textOf = async (request: IncomingMessage) => {
    const read = await readBody(request);
    return read.ok ? read.value.toString() : read.rejection.code;
  };
  const sizeOf = async (request: IncomingMessage) => {
    const read = await readBody(request);
    return read.ok ? read.value.length : read.rejection.code;
  };
  const length = (body: Buffer | string) => `Content-Length: ${Buffer.byteLength(body)}`;
  const gzipped = (text: string | Buffer) => gzipSync(text);

  test('plain, in chunks, gzipped', async () => {
    expect(await received([length('{"a":1}')], textOf, '{"a":1}')).toBe('{"a":1}');
    expect(await received(['Transfer-Encoding: chunked'], textOf, '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n')).toBe(
      '{"a":1}',
    );
    const packed = gzipped('{"a":1}');
    for (const name of ['gzip', 'GZIP', ' x-gzip '])
      expect(await received([length(packed), `Content-Encoding: ${name}`], textOf, packed)).toBe('{"a":1}');
    expect(await received([length('x'), 'Content-Encoding: identity'], textOf, 'x')).toBe('x');
  });

  test('none', async () => {
    expect(await received(['Content-Length: 0'], textOf)).toBe('');
    expect(await received(['Content-Length: 0'], hasBody)).toBe(false);
    expect(await received([], hasBody)).toBe(false);
    expect(await received(['Content-Length: 3'], hasBody, 'abc')).toBe(true);
    expect(await received(['Transfer-Encoding: chunked'], hasBody, '0\r\n\r\n')).toBe(true);
  });

  test('as long as allowed, and a byte longer', async () => {
    const most = Buffer.alloc(MAX_BODY_BYTES, 0x20);
    const more = Buffer.alloc(MAX_BODY_BYTES + 1, 0x20);
    expect(await received([length(most)], sizeOf, most)).toBe(MAX_BODY_BYTES);
    expect(await received([length(more)], sizeOf, more)).toBe('too_large');
    expect(await received([length(gzipped(most)), 'Content-Encoding: gzip'], sizeOf, gzipped(most))).toBe(
      MAX_BODY_BYTES,
    );
    expect(await received([length(gzipped(more)), 'Content-Encoding: gzip'], sizeOf, gzipped(more))).toBe('too_large');
    const head = `${more.length.toString(16)}\r\n`;
    const chunk = Buffer.concat([Buffer.from(head), more, Buffer.from('\r\n0\r\n\r\n')]);
    expect(await received(['Transfer-Encoding: chunked'], sizeOf, chunk)).toBe('too_large');
  });

  test('a small body that inflates to 100 MB is refused at once, in little memory', async () => {
    const bomb = gzipped(Buffer.alloc(100_000_000, 0x78));
    expect(bomb.length).toBeLessThan(MAX_BODY_BYTES);
    const before = process.memoryUsage().rss;
    const started = performance.now();
    expect(await received([length(bomb), 'Content-Encoding: gzip'], sizeOf, bomb)).toBe('too_large');
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });

  test.each(['utf-8', 'br', 'deflate', 'gzip, gzip', 'gzip;q=1', 'none'])(
    'Content-Encoding %s is not read',
    async (name) => {
      expect(await received([length('x'), `Content-Encoding: ${name}`], textOf, 'x')).toBe('unsupported_encoding');
    },
  );

  test('gzip in gzip, several members, and garbage after the end', async () => {
    const inflated = async (packed: Buffer) => received([length(packed), 'Content-Encoding: gzip'], textOf, packed);
    const one = gzipped('{"a":1}');
    expect(await inflated(Buffer.concat([one, gzipped('\n{"a":2}')]))).toBe('{"a":1}\n{"a":2}');
    expect(await inflated(Buffer.concat([one, Buffer.from('garbage')]))).toBe('malformed_json');
    expect(await inflated(Buffer.concat([one, Buffer.alloc(1_000)]))).toBe('{"a":1}');
    // Inflated once: what is inside is no text, and as long as it is.
    const bomb = gzipped(gzipped(Buffer.alloc(100_000_000)));
    expect(bomb.length).toBeLessThan(2_000);
    expect(await received([length(bomb), 'Content-Encoding: gzip'], sizeOf, bomb)).toBeLessThan(MAX_BODY_BYTES);
    // Members that each keep the limit, and together do not.
    const half = gzipped(Buffer.alloc(MAX_BODY_BYTES * 0.75));
    expect(await inflated(Buffer.concat([half, half]))).toBe('too_large');
  });

  test('broken gzip', async () => {
    const whole = gzipped('{"a":1}');
    for (const broken of [Buffer.from('{"a":1}'), whole.subarray(0, whole.length - 5), Buffer.from([0x1f, 0x8b])])
      expect(await received([length(broken), 'Content-Encoding: gzip'], textOf, broken)).toBe('malformed_json');
  });

  test('a sender that goes away in the middle', async () => {
    expect(await received(['Content-Length: 100'], textOf, 'half', true)).toBe('request_aborted');
  });
});
