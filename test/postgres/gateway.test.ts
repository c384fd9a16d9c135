import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHORIZED, openService, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';

let service: RunningService;

beforeAll(async () => {
  service = await openService({ env: { EXPECT_GATEWAY: 'true' } });
});

afterAll(() => service?.stop());

/** Held for 34 ms: a failed attempt of 30, and 4 to connect to the next. */
const LINE = {
  status: '200',
  request_time: '2.000',
  upstream_connect_time: '0.001, 0.004',
  upstream_header_time: '-, 0.100',
  upstream_response_time: '0.030, 1.900',
  upstream_status: '502, 200',
};

const post = (path: string, body: string, type = 'application/x-ndjson') =>
  service.send(path, { headers: { ...AUTHORIZED, 'content-type': type }, body });

const otlp = (...lines: string[]) =>
  JSON.stringify({
    resourceLogs: [{ scopeLogs: [{ logRecords: lines.map((line) => ({ body: { stringValue: line } })) }] }],
  });

describe('POST /v1/gateway-logs', () => {
  it('joins all three halves, and takes the gateway out of the network', async () => {
    const id = traceId();
    await service.postTimings(serverRecord({ trace_id: id }));
    await service.postBeacons(beacon({ trace_id: id }));
    expect((await post('/v1/gateway-logs', JSON.stringify({ ...LINE, trace_id: id }))).status).toBe(202);
    const { json: body } = await service.read(id);
    expect(body).toMatchObject({
      joined: true,
      gateway: { gateway_ns: 34_000_000, request_time_ms: 2000, status: 200 },
      stages_ns: { gateway: 34_000_000, network: 412_300_000 - 19 - 2 - 34_000_000 },
    });
  });

  it('finds the request by request_id where the line has no trace id', async () => {
    const id = traceId();
    await post('/v1/gateway-logs', JSON.stringify({ ...LINE, trace_id: '-', request_id: id }));
    expect((await service.read(id)).json).toMatchObject({ trace_id: id, server: null, client: null });
  });

  it('refuses what is no line, at its index', async () => {
    const good = JSON.stringify({ ...LINE, trace_id: traceId() });
    const answer = await post('/v1/gateway-logs', `${good}\nno json\n{"trace_id":"${traceId()}"}`);
    expect(answer).toMatchObject({
      status: 202,
      json: {
        accepted: 1,
        rejected: [
          { index: 1, code: 'malformed_json' },
          { index: 2, code: 'missing_field' },
        ],
      },
    });
  });

  it('needs the write token', async () => {
    const answer = await service.send('/v1/gateway-logs', {
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
  });
});

describe('POST /v1/logs', () => {
  it('takes the same lines as a collector sends them', async () => {
    const id = traceId();
    const answer = await post('/v1/logs', otlp(JSON.stringify({ ...LINE, trace_id: id })), 'application/json');
    expect(answer).toMatchObject({ status: 200, json: {} });
    expect((await service.read(id)).json).toMatchObject({ gateway: { status: 200 } });
  });

  it('tells a collector what was refused, and not to send it again', async () => {
    const answer = await post(
      '/v1/logs',
      otlp('plain text', JSON.stringify({ ...LINE, trace_id: traceId() })),
      'application/json',
    );
    expect(answer).toMatchObject({ status: 200, json: { partialSuccess: { rejectedLogRecords: '1' } } });
  });

  it('answers 415 to protobuf and 400 to what is no JSON', async () => {
    expect((await post('/v1/logs', 'x', 'application/x-protobuf')).status).toBe(415);
    expect((await post('/v1/logs', '{', 'application/json')).status).toBe(400);
  });
});
