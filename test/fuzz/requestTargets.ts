import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { MAX_BODY_BYTES } from '../../contract/limits.ts';
import { createTokenCheck } from '../../ingest/http/auth.ts';
import { clientAddress } from '../../ingest/http/clientAddress.ts';
import { BEACON_TYPES, checkContentType } from '../../ingest/http/contentType.ts';
import { createOriginCheck } from '../../ingest/http/cors.ts';
import { singleHeader, traceIdSources } from '../../ingest/http/headers.ts';
import { readBody } from '../../ingest/http/readBody.ts';
import { formatFor } from '../../ingest/metrics/accept.ts';
import { traceKeyOf } from '../../ingest/pipeline/traceKey.ts';
import { chance, pick, upTo } from './draw.ts';
import { expectThat } from './expectThat.ts';
import { mutateBytes } from './mutateBytes.ts';
import { NASTY_TEXTS } from './nasty.ts';
import { checkRefusal } from './refusals.ts';
import type { FuzzTarget } from './target.ts';

const TOKEN = 'the-right-write-token';
const ORIGIN = 'https://app.example';
const VALUES = [
  '203.0.113.9, 6.6.6.6',
  '[2001:db8::1]:443, ::ffff:1.2.3.4, fe80::1%eth0',
  'text/plain;charset=UTF-8',
  'application/json; charset="utf-8"; boundary=x',
  ORIGIN,
  'http://localhost:5173',
  'http://localhost.evil.example',
  `Bearer ${TOKEN}`,
  'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4,*/*',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  '1,2,3,4,5,6,7',
];
const NAMES = [
  'x-forwarded-for',
  'content-type',
  'origin',
  'authorization',
  'accept',
  'x-trace-id',
  'traceparent',
  'x-request-id',
];
const WORDS = [
  ...NASTY_TEXTS,
  ',',
  ';',
  '=',
  ':',
  '%',
  '.',
  '"',
  'q=',
  'charset=',
  '::',
  ', , ,',
  'Bearer ',
  'https://',
  'null',
];

/** A request with each line of the input as the value of one header; as Node would hand it over. */
function requestOf(lines: readonly string[], body: Buffer = Buffer.alloc(0)): IncomingMessage {
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (const [index, value] of lines.entries()) {
    const name = NAMES[index % NAMES.length]!;
    rawHeaders.push(name, value);
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
    headers,
    rawHeaders,
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage;
}

const hasToken = createTokenCheck([TOKEN, 'another-write-token']);
const checkOrigin = createOriginCheck([ORIGIN]);
const checkLoopback = createOriginCheck(null);

export const REQUEST_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'headers',
    weight: 2,
    make(random) {
      const lines = Array.from({ length: upTo(random, 12) }, () =>
        mutateBytes(Buffer.from(pick(random, VALUES)), random, WORDS)
          .toString('latin1')
          .replaceAll(/[\r\n\0]/g, ' '),
      );
      return Buffer.from(lines.join('\n'), 'latin1');
    },
    check(input) {
      const request = requestOf(input.toString('latin1').split('\n'));
      const { authorization, origin, accept } = request.headers;
      for (const hops of [0, 1, 2, 16]) {
        const address = clientAddress(request, hops);
        expectThat(address.length <= 64, 'an address without bounds');
        expectThat(hops > 0 || isIP(address) !== 0, 'a socket without address');
      }
      checkRefusal(checkContentType(request.headers['content-type'], BEACON_TYPES));
      const listed = checkOrigin(request);
      expectThat(!listed.allowed || origin === undefined || origin === ORIGIN, 'an origin that is not listed passes');
      const loopback = checkLoopback(request);
      expectThat(!loopback.allowed || origin === undefined || isLoopback(origin), 'a stranger passes for loopback');
      expectThat(
        !hasToken(request) || /^bearer +(the-right|another)-write-token$/i.test(authorization ?? ''),
        'a wrong token passes',
      );
      expectThat(['text', 'openmetrics'].includes(formatFor(accept).toLowerCase()), 'an unknown format');
      const sources = traceIdSources(request);
      checkRefusal(traceKeyOf(null, 'default', sources));
      for (const name of NAMES) {
        const { value, ambiguous } = singleHeader(request, name);
        expectThat(!(ambiguous && value !== null), 'ambiguous and yet a value');
      }
    },
  },
  {
    name: 'gzip bodies',
    weight: 0.5,
    make(random) {
      const plain = Buffer.alloc(upTo(random, chance(random, 0.01) ? 3 * MAX_BODY_BYTES : 2_000), upTo(random, 256));
      let packed = gzipSync(plain, { level: 1 });
      if (chance(random, 0.2)) packed = gzipSync(packed);
      if (chance(random, 0.2)) packed = Buffer.concat([packed, packed]);
      if (chance(random, 0.2)) packed = Buffer.concat([packed, Buffer.alloc(upTo(random, 50), upTo(random, 256))]);
      return chance(random, 0.7)
        ? mutateBytes(packed, random, [packed.subarray(0, 10), Buffer.from([0x1f, 0x8b])])
        : packed;
    },
    async check(input) {
      const request = requestOf([], input);
      request.headers['content-encoding'] = 'gzip';
      const body = checkRefusal(await readBody(request));
      expectThat((body?.length ?? 0) <= MAX_BODY_BYTES, 'more than the limit was inflated');
    },
  },
];

function isLoopback(origin: string): boolean {
  try {
    return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
  } catch {
    return false;
  }
}
