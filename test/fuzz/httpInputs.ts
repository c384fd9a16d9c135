import type { OutgoingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Random } from '../../demo/random.ts';
import { makeBody } from './bodyTargets.ts';
import {
  BEACONS,
  GATEWAY_LINES,
  OTLP_LOGS,
  SERVER_RECORDS,
  SERVER_TIMINGS,
  TIMING_TRACES,
  TRACE_IDS,
  TRACEPARENTS,
} from './corpus.ts';
import { chance, pick, upTo } from './draw.ts';
import { mutateBytes } from './mutateBytes.ts';
import { CANARY, NASTY_TEXTS } from './nasty.ts';

/** A request that any client could send. */
export interface ShapedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

const TAKES: readonly (readonly [path: string, seeds: readonly unknown[], type: string])[] = [
  ['/v1/beacons', BEACONS, 'text/plain;charset=UTF-8'],
  ['/v1/server-timings', SERVER_RECORDS, 'application/json'],
  ['/v1/gateway-logs', GATEWAY_LINES, 'application/x-ndjson'],
  ['/v1/logs', OTLP_LOGS, 'application/json'],
];
const ELSEWHERE = [
  '/',
  '//v1/beacons',
  '/V1/BEACONS',
  '/v1/%62eacons',
  '/v1/beacons/',
  '/__proto__',
  '/constructor',
  '/metrics',
  '/healthz',
  '/readyz',
  '/v1/requests/',
  '/%',
  '/%00',
  `/${CANARY}`,
  '/v1/requests/%E0%A4%A',
  '*',
];
const METHODS = ['GET', 'PUT', 'OPTIONS', 'HEAD', 'DELETE', 'TRACE', 'PATCH', 'PROPFIND'];
const TYPES = [
  'application/json',
  'application/x-ndjson',
  'text/plain',
  'text/html',
  'application/json; charset=iso-8859-1',
  'application/json; utf-8',
  'multipart/form-data',
  '',
];
const ENCODINGS = ['gzip', 'GZIP', 'x-gzip', 'identity', 'br', 'deflate', 'gzip, gzip', 'utf-8', ''];
const HEADERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['x-trace-id', TRACE_IDS],
  ['traceparent', TRACEPARENTS],
  ['x-request-id', TRACE_IDS],
  ['x-timing-trace', TIMING_TRACES],
  ['server-timing', SERVER_TIMINGS],
  ['origin', ['https://app.example', 'http://localhost:1', 'null', CANARY]],
  ['x-forwarded-for', ['6.6.6.6, 203.0.113.9', CANARY]],
  ['accept', ['application/openmetrics-text', '*/*', CANARY]],
  ['user-agent', [CANARY]],
  ['cookie', [`a=${CANARY}`]],
  ['referer', [`https://${CANARY}/`]],
  ['access-control-request-headers', [CANARY]],
  ['expect', ['100-continue']],
];

/** What Node's own client would not send: it belongs to {@link makeRaw}. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/g;

/** The id that most golden payloads have. */
const COMMON_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

function freshId(random: Random): string {
  return Array.from({ length: 4 }, () => (1 + upTo(random, 0xffffffff)).toString(16).padStart(8, '0')).join('');
}

export function makeShaped(random: Random, token: string): ShapedRequest {
  const [takes, seeds, type] = pick(random, TAKES);
  const path = chance(random, 0.85) ? takes : elsewhere(random);
  const headers: Record<string, string | string[]> = {};
  if (chance(random, 0.9)) headers['authorization'] = `Bearer ${chance(random, 0.95) ? token : CANARY}`;
  headers['content-type'] = chance(random, 0.9) ? type : pick(random, TYPES);
  for (const [name, values] of HEADERS) {
    if (!chance(random, 0.08)) continue;
    const value = mutateBytes(Buffer.from(pick(random, values)), random, NASTY_TEXTS)
      .toString('latin1')
      .replaceAll(UNSENDABLE, '')
      .slice(0, 4_000);
    headers[name] = chance(random, 0.1) ? [value, value] : value;
  }
  let body = chance(random, 0.05) ? Buffer.alloc(0) : makeBody(seeds, random);
  // Most requests are new ones; the rest meet in one row.
  if (chance(random, 0.7)) body = Buffer.from(body.toString('latin1').replaceAll(COMMON_ID, freshId(random)), 'latin1');
  if (chance(random, 0.15)) {
    headers['content-encoding'] = chance(random, 0.6) ? 'gzip' : pick(random, ENCODINGS);
    if (chance(random, 0.8)) body = gzipSync(body, { level: 1 });
  }
  return { method: chance(random, 0.9) ? 'POST' : pick(random, METHODS), path, headers, body };
}

function elsewhere(random: Random): string {
  const path = chance(random, 0.5)
    ? pick(random, ELSEWHERE)
    : `/v1/requests/${encodeURIComponent(pick(random, NASTY_TEXTS).toWellFormed())}`;
  return chance(random, 0.3) ? `${path}?${encodeURIComponent(CANARY)}` : path;
}

const BEACON = '{"v":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","status":"complete"}';
const HEAD = 'POST /v1/beacons HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';
const RAW_SEEDS: readonly string[] = [
  `${HEAD}Content-Length: ${BEACON.length}\r\n\r\n${BEACON}`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n${BEACON.length.toString(16)};ext="a\\"b"\r\n${BEACON}\r\n0\r\nTrailer: x\r\n\r\n`,
  `${HEAD}Content-Length: 0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /v1/requests/4bf92f3577b34da6a3ce929d0e0e4736 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${CANARY}\r\n\r\n`,
  `OPTIONS /v1/beacons HTTP/1.1\r\nHost: x\r\nOrigin: http://localhost\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
  `${HEAD}Expect: 100-continue\r\nContent-Length: ${BEACON.length}\r\n\r\n${BEACON}`,
];
/** Shapes by which proxies and servers come to disagree about where a request ends. */
const RAW_WORDS: readonly (string | Buffer)[] = [
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding: identity, chunked\r\n',
  'Transfer-Encoding:\tchunked\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Transfer_Encoding: chunked\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length: +5\r\n',
  'Content-Length: 0x5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 18446744073709551617\r\n',
  'Content-Length: 1_0\r\n',
  'Host: y\r\n',
  ' obs: fold\r\n',
  '\r\n',
  '\n',
  '\r',
  '\n\n',
  '\0',
  ': ',
  '0\r\n\r\n',
  '0;a=b\r\n\r\n',
  'ffffffffffffffff\r\n',
  '-1\r\n',
  'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'Expect: 200-ok\r\n',
  'Connection: close\r\n',
  'HTTP/1.0',
  'HTTP/9.9',
  `${CANARY}: ${CANARY}\r\n`,
  `A: ${'x'.repeat(20_000)}\r\n`,
  'A: b\r\n'.repeat(200),
  Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]),
  Buffer.from([0xff, 0xfe, 0x80]),
];

/** Bytes that begin as a request. */
export function makeRaw(random: Random): Buffer {
  const seed = chance(random, 0.3) ? pick(random, RAW_SEEDS) + pick(random, RAW_SEEDS) : pick(random, RAW_SEEDS);
  const bytes = Buffer.from(seed);
  if (chance(random, 0.6)) {
    // At the end of a line of the head, where a header goes.
    const ends = [...seed.matchAll(/\r\n/g)].map(({ index }) => index + 2);
    const at = ends[upTo(random, ends.length)] ?? 0;
    const word = Buffer.from(pick(random, RAW_WORDS));
    const placed = Buffer.concat([bytes.subarray(0, at), word, bytes.subarray(at)]);
    return chance(random, 0.5) ? placed : mutateBytes(placed, random, RAW_WORDS);
  }
  return mutateBytes(bytes, random, RAW_WORDS);
}
