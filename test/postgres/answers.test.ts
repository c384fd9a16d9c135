import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES, MAX_EVENTS } from '../../contract/limits.ts';
import { AUTHORIZED, openService, query, type RunningService, TOKEN } from './service.ts';
import { beacon, serverRecord, TIMING_TRACE, traceId } from './serviceEvents.ts';
import { gzipped, ndjson } from './serviceHttp.ts';

const SECOND_TOKEN = 'second-token-of-the-tests';
const PAGE = 'https://app.example';
const JSON_TYPE = { 'content-type': 'application/json' } as const;
const TEXT = { 'content-type': 'text/plain;charset=UTF-8' } as const;
const ACCEPTED_ONE = { accepted: 1, rejected: [] };

let service: RunningService;
beforeAll(async () => {
  service = await openService({ env: { INGEST_TOKEN: `${TOKEN},${SECOND_TOKEN}`, BEACON_ORIGINS: PAGE } });
});
afterAll(() => service.stop());

const timings = (body: string | Buffer, headers = {}) =>
  service.send('/v1/server-timings', { headers: { ...AUTHORIZED, ...JSON_TYPE, ...headers }, body });
const beacons = (body: string | Buffer, headers = {}) =>
  service.send('/v1/beacons', { headers: { ...TEXT, ...headers }, body });
const refusal = (code: string) => ({ error: { code, message: expect.stringMatching(/^[A-Z].{10,300}\.$/) } });

describe('what is taken', () => {
  const one = () => serverRecord({ trace_id: traceId() });

  test.each([
    ['one object', () => JSON.stringify(one()), 'application/json', 1],
    ['an object over several lines', () => JSON.stringify(one(), null, 2), 'application/json', 1],
    ['an array', () => JSON.stringify([one(), one()]), 'application/json; charset=utf-8', 2],
    ['an array over several lines', () => JSON.stringify([one(), one()], null, 2), 'application/json; utf-8', 2],
    ['an array and a line end', () => `${JSON.stringify([one(), one()])}\n`, 'application/json', 2],
    ['lines', () => ndjson([one(), one(), one()]), 'application/x-ndjson', 3],
    ['lines that end in CRLF', () => `${JSON.stringify(one())}\r\n${JSON.stringify(one())}\r\n`, 'application/json', 2],
    ['a byte order mark', () => `\uFEFF${JSON.stringify(one())}`, 'application/json;charset="UTF-8"', 1],
    ['no event at all', () => '[]', 'application/json', 0],
  ])('%s', async (_, body, type, accepted) => {
    for (const coded of [{ body: body(), headers: {} }, gzipped(body())]) {
      const answer = await timings(coded.body, { ...coded.headers, 'content-type': type });
      expect(answer).toMatchObject({ status: 202, json: { accepted, rejected: [] } });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
    }
  });

  test('a beacon as text/plain, as JSON, and gzipped; fields that nobody knows are ignored', async () => {
    const body = () => JSON.stringify({ ...beacon({ trace_id: traceId() }), user_agent: 'x', deep: { er: [1] } });
    expect(await beacons(body())).toMatchObject({ status: 202, json: ACCEPTED_ONE });
    expect(await beacons(body(), JSON_TYPE)).toMatchObject({ status: 202, json: ACCEPTED_ONE });
    const { body: small, headers } = gzipped(body());
    expect(await beacons(small, headers)).toMatchObject({ status: 202, json: ACCEPTED_ONE });
  });

  test('either write token, in any case of the scheme', async () => {
    for (const authorization of [`Bearer ${SECOND_TOKEN}`, `bearer ${TOKEN}`])
      expect((await timings(JSON.stringify(one()), { authorization })).status).toBe(202);
  });

  test('no body: the facts stand in headers, and lines of Server-Timing may be joined', async () => {
    const key = traceId();
    const answer = await service.send('/v1/server-timings', {
      headers: [
        ['Authorization', AUTHORIZED.authorization],
        ['X-Trace-ID', key.toUpperCase()],
        ['X-Timing-Trace', '1000,2000,3000,4000,5000,6000,7000'],
        ['Server-Timing', 'queue;dur=0.0004'],
        ['Server-Timing', 'db;dur=3, miss'],
        ['Content-Length', '0'],
      ],
    });
    expect(answer).toMatchObject({ status: 202, json: ACCEPTED_ONE });
    const { json } = await service.read(key);
    expect(json).toMatchObject({ trace_ref: key.toUpperCase(), sub_stages_ns: { db: 3_000_000 } });
    expect(json.stages_ns).toMatchObject({ queue: 400, first_token: 600, preprocess: 1000 });
  });
});

describe('what is refused in part', () => {
  test('each bad event at its own index; blank lines have none', async () => {
    const good = traceId();
    const lines = [
      JSON.stringify(serverRecord({ trace_id: good })),
      '',
      '{"trace_id":',
      '   ',
      JSON.stringify(serverRecord({ trace_id: traceId(), timing_trace: '9,8,7,6,5,4,3' })),
      JSON.stringify({ trace_id: traceId() }),
      JSON.stringify(serverRecord({ trace_id: '-' })),
      '[1]',
      JSON.stringify(serverRecord({ trace_id: traceId(), status: 99 })),
    ];
    const answer = await timings(lines.join('\n'), { 'content-type': 'application/x-ndjson' });
    expect(answer.status).toBe(202);
    expect(answer.json.accepted).toBe(1);
    expect(answer.json.rejected.map(({ index, code }: Record<string, unknown>) => [index, code])).toEqual([
      [1, 'malformed_json'],
      [2, 'not_monotonic'],
      [3, 'no_timing'],
      [4, 'invalid_trace_id'],
      [5, 'malformed_json'],
      [6, 'invalid_field'],
    ]);
    expect((await service.read(good)).status).toBe(200);
  });

  test('none taken: 400 with the first reason and all of them', async () => {
    const answer = await beacons(ndjson([{ v: 1, status: 'complete' }, beacon({ trace_id: traceId(), v: 2 })]));
    expect(answer).toMatchObject({ status: 400, json: refusal('missing_field') });
    expect(answer.json.rejected).toMatchObject([
      { index: 0, code: 'missing_field' },
      { index: 1, code: 'unsupported_version' },
    ]);
  });
});

describe('what is refused', () => {
  const big = () => JSON.stringify({ pad: 'x'.repeat(MAX_BODY_BYTES) });

  test.each([
    ['unreadable JSON', 400, 'malformed_json', () => beacons('{"v":1')],
    ['NaN', 400, 'malformed_json', () => timings('{"a":NaN}')],
    ['an empty body', 400, 'malformed_json', () => beacons('')],
    ['broken gzip', 400, 'malformed_json', () => beacons('no gzip', { 'content-encoding': 'gzip' })],
    ['no token', 401, 'unauthorized', () => timings('{}', { authorization: '' })],
    ['a wrong token', 401, 'unauthorized', () => timings('{}', { authorization: 'Bearer guess' })],
    ['two tokens at once', 401, 'unauthorized', () => timings('{}', { authorization: `Bearer ${TOKEN},${TOKEN}` })],
    ['another scheme', 401, 'unauthorized', () => timings('{}', { authorization: `Basic ${TOKEN}` })],
    ['a foreign origin', 403, 'forbidden_origin', () => beacons('{}', { origin: 'https://evil.example' })],
    [
      'a loopback page where a list is set',
      403,
      'forbidden_origin',
      () => beacons('{}', { origin: 'http://localhost' }),
    ],
    ['an origin that begins alike', 403, 'forbidden_origin', () => beacons('{}', { origin: `${PAGE}.evil` })],
    ['a GET of beacons', 405, 'method_not_allowed', () => service.send('/v1/beacons', { method: 'GET' })],
    ['a PUT of timings', 405, 'method_not_allowed', () => service.send('/v1/server-timings', { method: 'PUT' })],
    ['over 1 MiB', 413, 'too_large', () => timings(big())],
    [
      'over 1 MiB after inflating',
      413,
      'too_large',
      () => beacons(gzipped(big()).body, { 'content-encoding': 'gzip' }),
    ],
    ['over 5,000 lines', 413, 'too_many_events', () => timings('{}\n'.repeat(MAX_EVENTS + 1))],
    ['over 5,000 elements', 413, 'too_many_events', () => timings(`[${'{},'.repeat(MAX_EVENTS)}{}]`)],
    ['another type', 415, 'unsupported_media_type', () => beacons('a=1', { 'content-type': 'text/html' })],
    ['text/plain timings', 415, 'unsupported_media_type', () => timings('{}', TEXT)],
    [
      'another charset',
      415,
      'unsupported_media_type',
      () => timings('{}', { 'content-type': 'application/json; charset=iso-8859-1' }),
    ],
    ['another encoding', 415, 'unsupported_encoding', () => beacons('{}', { 'content-encoding': 'utf-8' })],
    ['brotli', 415, 'unsupported_encoding', () => beacons('{}', { 'content-encoding': 'br' })],
    ['an unknown address', 404, 'not_found', () => service.send('/v1/nothing', { body: '{}' })],
    ['the metrics, publicly', 404, 'not_found', () => service.send('/metrics', { method: 'GET' })],
    [
      'an id that cannot be decoded',
      404,
      'not_found',
      () => service.send('/v1/requests/%E0%A4%A', { method: 'GET', headers: AUTHORIZED }),
    ],
  ])('%s: %i %s', async (_, status, code, ask) => {
    const answer = await ask();
    expect(answer).toMatchObject({ status, json: refusal(code) });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('with the headers that say how to do it right', async () => {
    expect((await timings('{}', { authorization: '' })).headers['www-authenticate']).toBe('Bearer');
    expect((await service.send('/v1/beacons', { method: 'GET' })).headers.allow).toBe('POST, OPTIONS');
    expect((await service.send('/v1/server-timings', { method: 'OPTIONS' })).headers.allow).toBe('POST');
  });

  test('exactly 1 MiB and exactly 5,000 events are taken', async () => {
    const empty = JSON.stringify({ ...serverRecord({ trace_id: traceId() }), pad: '' });
    const full = empty.replace('"pad":""', `"pad":"${'x'.repeat(MAX_BODY_BYTES - empty.length)}"`);
    expect(full.length).toBe(MAX_BODY_BYTES);
    expect((await timings(full)).json).toEqual(ACCEPTED_ONE);
    const many = Array.from({ length: MAX_EVENTS }, () => ({ trace_id: traceId(), timing_trace: '1,2,3,4,5,6,7' }));
    expect((await timings(ndjson(many))).json).toEqual({ accepted: MAX_EVENTS, rejected: [] });
  });
});

describe('pages of other origins', () => {
  const CORS = {
    'access-control-allow-origin': PAGE,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  };

  test('a preflight names the very origin, what may be sent, and how long that holds', async () => {
    const answer = await service.send('/v1/beacons', {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(answer).toMatchObject({ status: 204, text: '', headers: CORS });
    expect(answer.headers['access-control-allow-methods']).toBe('POST');
    for (const name of ['content-type', 'content-encoding', 'x-trace-id', 'traceparent'])
      expect(answer.headers['access-control-allow-headers']).toContain(name);
    expect(Number(answer.headers['access-control-max-age'])).toBeGreaterThan(0);
    expect((await service.send('/v1/beacons', { method: 'OPTIONS', headers: { origin: 'null' } })).status).toBe(403);
  });

  test('answers and refusals alike can be read by the page', async () => {
    expect(await beacons(JSON.stringify(beacon({ trace_id: traceId() })), { origin: PAGE })).toMatchObject({
      status: 202,
      headers: CORS,
    });
    for (const [status, headers] of [
      [400, {}],
      [415, { 'content-type': 'text/html' }],
    ] as const)
      expect(await beacons('{', { origin: PAGE, ...headers })).toMatchObject({ status, headers: CORS });
    expect((await beacons('{', { origin: PAGE })).headers['access-control-expose-headers']).toBe('retry-after');
  });

  test('without a list, pages of this machine may post and others may not', async () => {
    const local = await openService();
    try {
      const from = (origin: string) =>
        local.send('/v1/beacons', {
          headers: { ...TEXT, origin },
          body: JSON.stringify(beacon({ trace_id: traceId() })),
        });
      for (const origin of ['http://localhost:5173', 'http://127.0.0.1', 'https://[::1]:8443'])
        expect((await from(origin)).status).toBe(202);
      for (const origin of [PAGE, 'http://localhost.evil.example', 'null'])
        expect((await from(origin)).status).toBe(403);
    } finally {
      await local.stop();
    }
  });
});

describe('reading', () => {
  test('one request: 401, 404, 200 by every spelling of its id', async () => {
    const key = traceId();
    expect(await service.send(`/v1/requests/${key}`, { method: 'GET' })).toMatchObject({
      status: 401,
      json: refusal('unauthorized'),
    });
    expect(await service.read(key)).toMatchObject({ status: 404, json: refusal('not_found') });
    expect(await service.read('-')).toMatchObject({ status: 400, json: refusal('invalid_trace_id') });
    await service.postTimings(serverRecord({ trace_id: key }));
    const uuid = key.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    for (const spelling of [key, key.toUpperCase(), uuid, `1-${key.slice(0, 8)}-${key.slice(8)}`])
      expect(await service.read(spelling)).toMatchObject({ status: 200, json: { trace_id: key, trace_ref: null } });
  });

  test('whether it lives and is ready, on both ports; the metrics on the admin port only', async () => {
    for (const url of [service.publicUrl, service.adminUrl]) {
      const at = (path: string) => fetch(url + path).then(async (answer) => [answer.status, await answer.json()]);
      expect(await at('/healthz')).toEqual([200, { alive: true }]);
      expect(await at('/readyz')).toEqual([200, { ready: true, spooling: false }]);
    }
    expect(await (await fetch(`${service.adminUrl}/metrics`)).text()).toContain('# TYPE ttft_seconds histogram');
    const open = await fetch(`${service.adminUrl}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
    expect(open.headers.get('content-type')).toContain('application/openmetrics-text; version=1.0.0');
    expect(await open.text()).toMatch(/# EOF\n$/);
  });

  test('how the connection was made: zeros are known, what nobody told is null, and a later beacon without it erases nothing', async () => {
    const key = traceId();
    await service.postBeacons(beacon({ trace_id: key, seq: 1, connection_ms: { dns: 0, tcp: 0, tls: 0, wait: 81.5 } }));
    await service.postBeacons(beacon({ trace_id: key, seq: 2 }));
    expect((await service.read(key)).json.client.connection_ms).toEqual({ dns: 0, tcp: 0, tls: 0, wait: 81.5 });
    const [row] = await query(
      service.databaseUrl,
      'SELECT connection_dns_ms, connection_wait_ms FROM requests WHERE trace_id = $1',
      [key],
    );
    expect(row).toEqual({ connection_dns_ms: 0, connection_wait_ms: 81.5 });
    const silent = traceId();
    await service.postBeacons(beacon({ trace_id: silent }));
    expect((await service.read(silent)).json.client.connection_ms).toBeNull();
  });

  test('stamps above 2^53 stay exact: posted, answered, in columns and in the view', async () => {
    const key = traceId();
    await service.postTimings(serverRecord({ trace_id: key, timing_trace: TIMING_TRACE }));
    await service.postBeacons(beacon({ trace_id: key }));
    const { json } = await service.read(key);
    const stages = { receive: 2, preprocess: 3, kv_load: 5, first_token: 1, serialize: 7, send: 3 };
    expect(json.stages_ns).toEqual({
      gateway: null,
      ...stages,
      queue: null,
      network: 412_299_979,
      render: null,
      unattributed: 0,
    });
    expect(json.server).toMatchObject({ ttft_ns: 19, ttft_basis: 't1-t6', source: 'direct' });
    expect(json).toMatchObject({ joined: true, status: 'complete', flags: [], gateway: null });
    const rows = await query(
      service.databaseUrl,
      'SELECT stage, position, duration_ns::int AS ns, duration_ms FROM request_stages WHERE trace_id = $1 ORDER BY position',
      [key],
    );
    const expected = { ...stages, network: 412_299_979, unattributed: 0 };
    expect(rows.map(({ stage, ns }) => [stage, ns])).toEqual(Object.entries(expected));
    expect(rows.map(({ duration_ms: ms }) => ms)).toEqual(Object.values(expected).map((ns) => ns / 1e6));
    const [row] = await query(
      service.databaseUrl,
      'SELECT kv_load_ns + serialize_ns AS sum, server_ttft_ns FROM requests WHERE trace_id = $1',
      [key],
    );
    expect(row).toEqual({ sum: '12', server_ttft_ns: '19' });
  });
});
