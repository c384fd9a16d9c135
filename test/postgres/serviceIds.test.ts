import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTHORIZED, openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';

let service: RunningService;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.stop());

/** A post without a body; a name may stand on two lines. */
const postHeaders = (...headers: (readonly [string, string])[]) =>
  service.send('/v1/server-timings', {
    headers: [['Authorization', AUTHORIZED.authorization], ['Content-Length', '0'], ...headers] as [string, string][],
  });
const STAMPED = ['X-Timing-Trace', '1,2,3,4,5,6,7'] as const;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
const codeOf = (answer: { json: { error: { code: string } } }) => answer.json.error.code;

describe('one trace id in many spellings', () => {
  test.each([
    ['7F3C9A10-55D2-4B8E-9C01-2E6FA4B7D813', '7f3c9a1055d24b8e9c012e6fa4b7d813'],
    ['c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f', 'c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f'],
    ['b7ad6b7169203331', '0000000000000000b7ad6b7169203331'],
    ['1-66aa11bb-0123456789abcdef01234567', '66aa11bb0123456789abcdef01234567'],
    ['7F3C-9A1055D24B8E9C012E6FA4B7D813', sha256('7F3C-9A1055D24B8E9C012E6FA4B7D813')],
    ['c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f0', sha256('c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f0')],
    ['chatcmpl-abc 123/%', sha256('chatcmpl-abc 123/%')],
    ['~'.repeat(128), sha256('~'.repeat(128))],
  ])('%s is %s in a body, in a header and in an address', async (spelling, key) => {
    expect((await service.postBeacons(beacon({ trace_id: spelling }))).status).toBe(202);
    expect((await postHeaders(['X-Trace-ID', spelling], STAMPED)).status).toBe(202);
    const answer = await service.read(spelling);
    expect(answer).toMatchObject({
      status: 200,
      json: { trace_id: key, joined: true, trace_ref: spelling === key ? null : spelling },
    });
    expect((await service.read(key)).json).toEqual(answer.json);
  });

  test('a decimal number is one of Datadog only where that is said', async () => {
    const id = '5208512171318403364';
    await service.postBeacons(beacon({ trace_id: id, trace_id_format: 'datadog' }));
    expect((await service.read(BigInt(id).toString(16))).json.trace_ref).toBe(id);
    expect((await service.read(id)).status).toBe(404);
  });

  test.each(['-', '', '0'.repeat(32), 'x\r\nSet-Cookie: a=b', 'x'.repeat(129), 'ünï', '\u0000', 7, ['a'], { a: 1 }])(
    '%j is none: nothing is taken, nothing is echoed',
    async (bad) => {
      const answer = await service.postBeacons({ v: 1, status: 'complete', trace_id: bad });
      expect(answer.status).toBe(400);
      expect(codeOf(answer)).toBe('invalid_trace_id');
      expect(JSON.stringify(answer.headers)).not.toContain('Set-Cookie');
      expect(answer.text).not.toContain('Set-Cookie');
    },
  );

  test('the order of the sources, and an invalid header counts as absent', async () => {
    const [inBody, xTraceId, parent, requestId] = [traceId(), traceId(), traceId(), traceId()];
    const headers = {
      ...AUTHORIZED,
      'content-type': 'application/json',
      'x-trace-id': xTraceId,
      traceparent: `00-${parent}-b7ad6b7169203331-01`,
      'x-request-id': requestId,
    };
    const timing = { timing_trace: '1,2,3,4,5,6,7' };
    const post = (given: object, event: object) =>
      service.send('/v1/server-timings', { headers: { ...headers, ...given }, body: JSON.stringify(event) });
    await post({}, { ...timing, trace_id: inBody });
    expect((await service.read(inBody)).status).toBe(200);
    expect((await service.read(xTraceId)).status).toBe(404);
    await post({}, timing);
    expect((await service.read(xTraceId)).status).toBe(200);
    expect((await service.read(parent)).status).toBe(404);
    await post({ 'x-trace-id': '-' }, timing);
    expect((await service.read(parent)).status).toBe(200);
    expect((await service.read(requestId)).status).toBe(404);
    await post({ 'x-trace-id': '0', traceparent: `00-${parent}-0-01` }, timing);
    expect((await service.read(requestId)).status).toBe(200);
    expect(codeOf(await post({}, { ...timing, trace_id: '-' }))).toBe('invalid_trace_id');
    expect((await post({}, [timing, timing])).json.rejected).toMatchObject([{ code: 'missing_field' }, { index: 1 }]);
  });
});

test.each([
  ['00-T-P-01', true],
  ['00-T-P-00', true],
  [' 00-T-P-01 ', true],
  ['01-T-P-01-extra', true],
  ['cc-T-P-01', true],
  ['00-U-P-01', false],
  ['ff-T-P-01', false],
  ['00-T-P-01-extra', false],
  ['00-T-P-01-', false],
  ['01-T-P-01.extra', false],
  ['00-00000000000000000000000000000000-P-01', false],
  ['00-T-0000000000000000-01', false],
  ['0-T-P-01', false],
  ['000-T-P-01', false],
  ['00-Ta-P-01', false],
])('traceparent %s: %s', async (pattern, valid) => {
  const key = traceId().replace(/^./, 'a');
  const header = pattern.replace('T', key).replace('U', key.toUpperCase()).replace('P', 'b7ad6b7169203331');
  const answer = await postHeaders(['traceparent', header], STAMPED);
  expect(answer.status).toBe(valid ? 202 : 400);
  expect((await service.read(key)).status).toBe(valid ? 200 : 404);
  if (!valid) expect(codeOf(answer)).toBe('missing_field');
  expect(codeOf(await postHeaders(['trace-parent', header], STAMPED))).toBe('missing_field');
});

describe('stamps', () => {
  test('one that never happened makes the stages beside it null, and no other', async () => {
    const key = traceId();
    const timing = '8800000000000,8800000120000,0,8800000900000,0,8800001900000,8800002000000';
    await service.postTimings(serverRecord({ trace_id: key, timing_trace: timing }));
    const { json } = await service.read(key);
    expect(json.server).toMatchObject({ ttft_ns: 1_880_000, ttft_basis: 't1-t6' });
    expect(json.stages_ns).toMatchObject({
      receive: 120_000,
      preprocess: null,
      kv_load: null,
      first_token: null,
      serialize: null,
      send: 100_000,
      unattributed: 1_780_000,
    });
    const rows = await query(
      service.databaseUrl,
      'SELECT stage FROM request_stages WHERE trace_id = $1 ORDER BY position',
      [key],
    );
    expect(rows.map(({ stage }) => stage)).toEqual(['receive', 'send', 'unattributed']);
  });

  test('nanoseconds since 1970 stay exact', async () => {
    const key = traceId();
    const timing =
      '1785491532000000001,1785491532000000101,1785491532000000231,1785491532000000391,1785491532000000400,1785491532000000512,1785491532000000777';
    await service.postTimings(serverRecord({ trace_id: key, timing_trace: timing }));
    expect((await service.read(key)).json.stages_ns).toMatchObject({
      receive: 100,
      preprocess: 130,
      kv_load: 160,
      first_token: 9,
      serialize: 112,
      send: 265,
    });
  });

  test.each([
    ['malformed_timing_trace', '0,0,0,0,0,0,0'],
    ['malformed_timing_trace', '1,2,3,4,5,6'],
    ['malformed_timing_trace', '1,2,3,4,5,6,7,8'],
    ['malformed_timing_trace', '1,2,3,4,5,6,7,'],
    ['malformed_timing_trace', '+5,6,7,8,9,10,11'],
    ['malformed_timing_trace', '-5,6,7,8,9,10,11'],
    ['malformed_timing_trace', '1e9,2e9,3e9,4e9,5e9,6e9,7e9'],
    ['malformed_timing_trace', '0x10,17,18,19,20,21,22'],
    ['malformed_timing_trace', '1 2,3,4,5,6,7,8'],
    ['malformed_timing_trace', '1.5,2,3,4,5,6,7'],
    ['not_monotonic', '1,2,3,4,5,7,6'],
    ['not_monotonic', '5,0,0,4,0,0,0'],
    ['clock_mismatch', '1,2,3,4,5,6,3600000000007'],
  ])('%s: %s', async (code, timing) => {
    expect(codeOf(await service.postTimings(serverRecord({ trace_id: traceId(), timing_trace: timing })))).toBe(code);
    expect(codeOf(await postHeaders(['X-Trace-ID', traceId()], ['X-Timing-Trace', timing]))).toBe(code);
    const echo = beacon({ trace_id: traceId(), timing_trace: timing });
    expect(codeOf(await service.postBeacons(echo))).toBe(code);
  });

  test('equal ones are legal; as JSON numbers only those that JSON can carry', async () => {
    const post = (timing: (string | number)[]) =>
      service.postTimings(serverRecord({ trace_id: traceId(), timing_trace: timing }));
    expect((await post(['5', '5', '5', '5', '5', '5', '5'])).status).toBe(202);
    expect((await post([1, 2, 3, 4, 5, 6, 7])).status).toBe(202);
    expect(codeOf(await post([2 ** 53 + 2, 2 ** 53 + 4, 0, 0, 0, 0, 0]))).toBe('unsafe_integer');
    expect((await post(['9007199254740993', '9007199254741993', '0', '0', '0', '0', '0'])).status).toBe(202);
  });
});

describe('a header on two lines is refused, also when the lines joined look right', () => {
  test.each([
    [
      'two whole traces',
      [
        ['X-Timing-Trace', '1,2,3,4,5,6,7'],
        ['X-Timing-Trace', '11,12,13,14,15,16,17'],
      ],
    ],
    [
      'one trace in two parts',
      [
        ['X-Timing-Trace', '1,2,3'],
        ['X-Timing-Trace', '4,5,6,7'],
      ],
    ],
    ['the same twice', [STAMPED, STAMPED]],
  ] as const)('%s', async (_, lines) => {
    const key = traceId();
    const answer = await postHeaders(['X-Trace-ID', key], ...lines);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('ambiguous_header');
    expect((await service.read(key)).status).toBe(404);
  });

  test('the id twice, in any case of its name', async () => {
    const key = traceId();
    const answer = await postHeaders(['X-Trace-ID', key], ['x-trace-id', key], STAMPED);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('ambiguous_header');
  });
});
