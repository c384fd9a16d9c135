import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from './database.ts';
import { AUTHORIZED, openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { gzipped, ndjson, openRaw } from './serviceHttp.ts';
import { scrape } from './serviceMetrics.ts';
import { until } from './serviceWait.ts';

let service: RunningService;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.stop());

/** Whatever was sent: no failure of the service's own, and it goes on. */
let read = 0;
afterEach(async () => {
  const news = service.log.slice(read);
  read = service.log.length;
  expect(news.filter(({ level }) => level === 'error')).toEqual([]);
  const key = traceId();
  expect((await service.postBeacons(beacon({ trace_id: key }))).status).toBe(202);
  expect((await scrape(service)).sum('ttft_client_seconds_count')).toBeGreaterThan(0);
});

const post = (body: string | Buffer, path = '/v1/beacons') =>
  service.send(path, { headers: { ...AUTHORIZED, 'content-type': 'application/json' }, body });
const field = (name: string, json: string) => `{"v":1,"status":"complete","trace_id":"${traceId()}","${name}":${json}}`;

describe('JSON', () => {
  test.each([
    ['deep arrays', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['deep arrays that never close', '['.repeat(1_000_000)],
    ['deep objects', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`],
    ['a number', '5'],
    ['null', 'null'],
    ['a text', '"beacon"'],
    ['an array of arrays', '[[],[[]]]'],
    ['an unfinished escape', '{"v":1,"trace_id":"\\u12'],
    ['only white space', ' \r\n\t \n'],
    ['NUL bytes', '\0\0\0\n\0'],
    ['a form', 'v=1&trace_id=1'],
  ])('%s: 400', async (_, body) => {
    for (const path of ['/v1/beacons', '/v1/server-timings']) {
      expect((await post(body, path)).status).toBe(400);
      const { body: small, headers } = gzipped(body);
      expect(
        (
          await service.send(path, {
            headers: { ...AUTHORIZED, ...headers, 'content-type': 'application/json' },
            body: small,
          })
        ).status,
      ).toBe(400);
    }
  });

  test('deep values in a field that nobody knows are ignored', async () => {
    const answer = await post(field('deep', '['.repeat(5_000) + ']'.repeat(5_000)));
    expect(answer.json).toEqual({ accepted: 1, rejected: [] });
  });

  test.each([
    ['ttft_ms', '1e999'],
    ['ttft_ms', '-1'],
    ['ttft_ms', '86400001'],
    ['ttft_ms', '"1"'],
    ['ttft_ms', '[1]'],
    ['ttft_ms', 'true'],
    ['arrivals_ms', '[1,1e999]'],
    ['arrivals_ms', '[2,1]'],
    ['arrivals_ms', '{"length":1}'],
    ['seq', '1.5'],
    ['seq', '1e15'],
    ['seq', '9007199254740993'],
    ['output_tokens', '2147483648'],
    ['chunk_tokens', '[32768]'],
    ['status', '"constructor"'],
    ['output_tokens_source', '"__proto__"'],
    ['model', '""'],
    ['model', `"${'x'.repeat(129)}"`],
    ['render', '[]'],
    ['gap_stats', '{"count":-1}'],
  ])('%s: %s is an invalid field', async (name, json) => {
    const answer = await post(field(name, json));
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_field' } } });
  });

  test.each([
    ['arrivals_ms', '[1e-300,1e-300,0.5]'],
    ['arrivals_ms', '[0,4.9e-324]'],
    ['arrivals_ms', '[-0]'],
    ['ttft_ms', '5e-324'],
    ['render', '{"first_ms":1e-60,"p50_ms":1e-60,"max_ms":1e-50}'],
    ['gap_stats', '{"count":9,"mean_ms":1e-99,"max_ms":1e-44,"stddev_ms":1e-40}'],
    ['seq', '1e3'],
    ['arrivals_ms', `[${Array(4_096).fill('86400000').join()}]`],
    ['model', `"${'😀'.repeat(128)}"`],
  ])('%s: %.60s is legal and stored', async (name, json) => {
    const answer = await post(field(name, json));
    expect(answer.json).toEqual({ accepted: 1, rejected: [] });
  });

  test('names of the prototype are nobody: not as fields, not as sub-stages', async () => {
    const key = traceId();
    const body = `{"trace_id":"${key}","__proto__":{"timing_trace":"1,2,3,4,5,6,7"},"constructor":{"prototype":{"x":1}}}`;
    expect((await post(body, '/v1/server-timings')).json.error.code).toBe('no_timing');
    expect((await post('{"__proto__":{"v":1,"status":"complete","trace_id":"abc"}}')).json.error.code).toBe(
      'missing_field',
    );
    const named = `{"trace_id":"${key}","server_timing":"__proto__;dur=1, constructor;dur=2, toString;dur=3, db;dur=4","sub_stages":{"__proto__":5,"hasOwnProperty":6}}`;
    expect((await post(named, '/v1/server-timings')).json).toEqual({ accepted: 1, rejected: [] });
    const { text, json } = await service.read(key);
    expect(Object.entries(json.sub_stages_ns).sort()).toEqual([
      ['__proto__', 1_000_005],
      ['constructor', 2_000_000],
      ['db', 4_000_000],
      ['hasOwnProperty', 6],
      ['toString', 3_000_000],
    ]);
    expect(text).toContain('"__proto__":1000005');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('NUL and lone surrogates are taken out of texts, wherever they stand', async () => {
    const key = traceId();
    await post(
      `{"trace_id":"${key}","timing_trace":"1,2,3,4,5,6,7","model":"a\\u0000b","route":"\\ud800/x\\udc00","tier":"\\u0000","backend":"{\\"q\\\\,NULL}","sub_stages":{"d\\u0000b":1,"\\ud83d":2}}`,
      '/v1/server-timings',
    );
    await post(`{"v":1,"status":"complete","seq":1,"trace_id":"${key}","call_id":"\\u0000\\ud800","carrier":"NULL"}`);
    const { json } = await service.read(key);
    expect(json.server).toMatchObject({ model: 'ab', route: '\uFFFD/x\uFFFD', tier: null, backend: '{"q\\,NULL}' });
    expect(json.sub_stages_ns).toEqual({ db: 1, '\uFFFD': 2 });
    expect(json.client).toMatchObject({ call_id: '\uFFFD', carrier: 'NULL' });
  });

  test('control characters in names of labels: the scrape stays readable', async () => {
    const model = 'a\u0001\r\n\t\u2028"\\}';
    await service.postTimings(serverRecord({ trace_id: traceId(), model, route: '\u007f#{' }));
    expect((await scrape(service)).sum('ttft_seconds_count', { model })).toBe(1);
  });

  test('one line that is not UTF-8: that one is refused', async () => {
    const lines = [
      JSON.stringify(beacon({ trace_id: traceId() })),
      field('model', '"\xff\xfe"'),
      JSON.stringify(beacon({ trace_id: traceId() })),
    ];
    const answer = await post(Buffer.from(lines.join('\n'), 'latin1'));
    expect(answer).toMatchObject({
      status: 202,
      json: { accepted: 2, rejected: [{ index: 1, code: 'malformed_json' }] },
    });
  });

  test('5,000 wrong events in one post: each has its reason', async () => {
    const answer = await post(ndjson(Array.from({ length: 5_000 }, () => ({ v: 1 }))));
    expect(answer.status).toBe(400);
    expect(answer.json.rejected).toHaveLength(5_000);
  });
});

describe('connections', () => {
  const head = (path: string, length: number, more = '') =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n${more}\r\n`;
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

  test('a body that comes byte by byte holds up nobody, and is taken', async () => {
    const body = JSON.stringify({ v: 1, trace_id: traceId(), status: 'complete' });
    const slow = await openRaw(service.publicUrl);
    slow.socket.setNoDelay(true).write(head('/v1/beacons', body.length));
    for (const byte of body.slice(0, -1)) {
      slow.socket.write(byte);
      expect((await service.send('/healthz', { method: 'GET' })).status).toBe(200);
    }
    expect(slow.received()).toBe('');
    slow.socket.write(body.at(-1)!);
    await until('the answer', () => statuses(slow.received())[0] === 202);
    slow.socket.destroy();
  });

  test('clients that leave in the middle of a body, or of the headers, leave nothing behind', async () => {
    const before = (await query(service.databaseUrl, 'SELECT count(*)::int AS n FROM requests'))[0]!['n'];
    for (let each = 0; each < 50; each += 1) {
      const { socket, closed } = await openRaw(service.publicUrl);
      socket.write(
        each % 2 ? head('/v1/beacons', 500) + JSON.stringify(beacon({ trace_id: traceId() })) : 'POST /v1/bea',
      );
      if (each % 3) socket.resetAndDestroy();
      else socket.end();
      await closed;
    }
    await until(
      'the refusals to be counted',
      async () => (await scrape(service)).sum('firsttoken_ingest_rejected_total', { reason: 'request_aborted' }) > 0,
    );
    expect((await query(service.databaseUrl, 'SELECT count(*)::int AS n FROM requests'))[0]!['n']).toBe(before);
  });

  test('100 pipelined requests: 100 answers, in order', async () => {
    const connection = await openRaw(service.publicUrl);
    const good = () => JSON.stringify({ v: 1, trace_id: traceId(), status: 'complete' });
    let sent = '';
    for (let each = 0; each < 100; each += 1) {
      if (each % 4 === 3) sent += 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
      else sent += head('/v1/beacons', good().length) + good();
    }
    connection.socket.write(sent);
    await until('all answers', () => statuses(connection.received()).length === 100);
    expect(statuses(connection.received())).toEqual(
      Array.from({ length: 100 }, (_, each) => (each % 4 === 3 ? 200 : 202)),
    );
    connection.socket.destroy();
  });

  test.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01', 400],
    ['two lengths', 'POST /v1/beacons HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 400],
    [
      'a length and chunks',
      'POST /v1/beacons HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['headers without end', `POST /v1/beacons HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(40_000)}`, 431],
    [
      'a broken chunk',
      'POST /v1/beacons HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
  ])('%s: refused, and the connection closed', async (_, bytes, status) => {
    const { socket, received, closed } = await openRaw(service.publicUrl);
    socket.write(bytes, 'latin1');
    await closed;
    expect(statuses(received())).toEqual([status]);
  });

  test('a refused post without end is read for a while and then cut', async () => {
    const { socket, received, closed } = await openRaw(service.publicUrl);
    socket.write('POST /v1/server-timings HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    let sent = 0;
    const write = () => {
      while (!socket.destroyed && sent < 100_000_000) {
        sent += chunk.length;
        if (!socket.write(chunk)) return void socket.once('drain', write);
      }
    };
    write();
    await closed;
    expect(statuses(received())).toEqual([401]);
    expect(sent).toBeLessThan(20_000_000);
  });
});

test('an event that the schema refuses although it passed the checks is refused alone', async () => {
  const database = await createDatabase();
  const strict = await openService({ databaseUrl: database.url });
  try {
    await query(database.url, `ALTER TABLE requests ADD CONSTRAINT no_thirteen CHECK (batch_size IS DISTINCT FROM 13)`);
    const keys = Array.from({ length: 100 }, traceId);
    const bad = new Set([0, 41, 42, 99]);
    const answer = await strict.postTimings(
      ...keys.map((trace_id, number) => serverRecord({ trace_id, batch_size: bad.has(number) ? 13 : 1 })),
    );
    expect(answer.status).toBe(202);
    expect(answer.json.accepted).toBe(96);
    expect(answer.json.rejected.map(({ index, code }: Record<string, unknown>) => [index, code])).toEqual(
      [...bad].map((index) => [index, 'unstorable']),
    );
    expect(await query(database.url, 'SELECT count(*)::int AS n FROM requests')).toEqual([{ n: 96 }]);
    // A half that an update refuses leaves the row as it was.
    await strict.postBeacons(beacon({ trace_id: keys[1]! }));
    const alone = await strict.postTimings(serverRecord({ trace_id: keys[0]!, batch_size: 13 }));
    expect(alone).toMatchObject({ status: 400, json: { error: { code: 'unstorable' } } });
    expect((await strict.read(keys[1]!)).json.joined).toBe(true);
    const metrics = await scrape(strict);
    expect(metrics.sum('ttft_seconds_count')).toBe(96);
    expect(metrics.sum('firsttoken_ingest_rejected_total', { reason: 'unstorable' })).toBe(5);
    expect(metrics.sum('firsttoken_store_up')).toBe(1);
  } finally {
    await strict.stop();
    await database.drop();
  }
});
