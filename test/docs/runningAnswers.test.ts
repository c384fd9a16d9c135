import type http from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../contract/limits.ts';
import { createLog } from '../../ingest/log.ts';
import { createServer, listen } from '../../ingest/server.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { createDatabase, type TestDatabase } from '../postgres/database.ts';
import { AUTHORIZED, openService, type RunningService } from '../postgres/service.ts';
import { beacon, serverRecord, traceId } from '../postgres/serviceEvents.ts';
import { type Answer, type Sent, send } from '../postgres/serviceHttp.ts';
import { type DatabaseProxy, openProxy } from '../postgres/serviceProxy.ts';

interface ResponseObject {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}
interface OperationObject {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

const document = openApiDocument();
const operations = Object.values(document['paths'] as Record<string, Record<string, OperationObject>>)
  .flatMap((item) => ['get', 'post', 'options'].map((method) => item[method]))
  .filter((operation) => operation !== undefined);
const documented = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).map(([status, response]) => ({ operationId, status, response })),
);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'document');

let service: RunningService;
let limited: RunningService;
/** Its database is away, and it has no spool. */
let cutOff: RunningService;
let database: TestDatabase;
let proxy: DatabaseProxy;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await openProxy(database.url);
  service = await openService({ databaseUrl: database.url });
  limited = await openService({ databaseUrl: database.url, env: { BEACON_RATE: '1' } });
  cutOff = await openService({ databaseUrl: proxy.url, env: { SPOOL_MAX_BYTES: '0' } });
  await proxy.close();
});
afterAll(async () => {
  for (const each of [service, limited, cutOff]) await each?.stop();
  await database?.drop();
});

const known = traceId();
const json = { 'content-type': 'application/json' };
const line = JSON.stringify({ trace_id: traceId(), status: '200', request_time: '0.100' });
const otlp = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: line } }] }] }] });

/** What can be wrong with a post, and is refused alike by all addresses that take events. */
function refusals(id: string, path: string, good: string, headers: http.OutgoingHttpHeaders) {
  const post = (to: RunningService, sent: Sent) => to.send(path, { ...sent, headers: { ...headers, ...sent.headers } });
  return {
    [`${id} 400`]: () => post(service, { body: '{' }),
    [`${id} 413`]: () => post(service, { body: ' '.repeat(MAX_BODY_BYTES + 1) }),
    [`${id} 415`]: () => post(service, { body: good, headers: { 'content-type': 'image/png' } }),
    [`${id} 503`]: () => post(cutOff, { body: good }),
  };
}
const unauthorized = (path: string, method = 'POST') => service.send(path, { method, headers: json, body: '{}' });
const get = (path: string, headers = {}) => service.send(path, { method: 'GET', headers });
const metrics = (accept: string) => send(`${service.adminUrl}/metrics`, { method: 'GET', headers: { accept } });

/** How each documented answer is brought about. */
const PROVOKED: Readonly<Record<string, () => Promise<Answer>>> = {
  'postServerTimings 202': () => service.postTimings(serverRecord({ trace_id: known }), { trace_id: 'no timing' }),
  ...refusals('postServerTimings', '/v1/server-timings', JSON.stringify(serverRecord({ trace_id: traceId() })), {
    ...AUTHORIZED,
    ...json,
  }),
  'postServerTimings 401': () => unauthorized('/v1/server-timings'),
  'postBeacons 202': () => service.postBeacons(beacon({ trace_id: known })),
  ...refusals('postBeacons', '/v1/beacons', JSON.stringify(beacon({ trace_id: traceId() })), json),
  'postBeacons 403': () =>
    service.send('/v1/beacons', { headers: { origin: 'https://elsewhere.example' }, body: '{}' }),
  'postBeacons 429': async () => {
    const all = Array.from({ length: 6 }, () => limited.postBeacons(beacon({ trace_id: traceId() })));
    return (await Promise.all(all)).find(({ status }) => status === 429)!;
  },
  'preflightBeacons 204': () =>
    service.send('/v1/beacons', { method: 'OPTIONS', headers: { origin: 'http://localhost' } }),
  'preflightBeacons 403': () =>
    service.send('/v1/beacons', { method: 'OPTIONS', headers: { origin: 'https://x.example' } }),
  'postGatewayLogs 202': () => service.send('/v1/gateway-logs', { headers: { ...AUTHORIZED, ...json }, body: line }),
  ...refusals('postGatewayLogs', '/v1/gateway-logs', line, { ...AUTHORIZED, ...json }),
  'postGatewayLogs 401': () => unauthorized('/v1/gateway-logs'),
  'postOtlpLogs 200': () =>
    service.send('/v1/logs', { headers: { ...AUTHORIZED, ...json }, body: otlp.replace('200', 'x') }),
  ...refusals('postOtlpLogs', '/v1/logs', otlp, { ...AUTHORIZED, ...json }),
  'postOtlpLogs 401': () => unauthorized('/v1/logs'),
  'getRequest 200': () => service.read(known),
  'getRequest 400': () => service.read('-'),
  'getRequest 401': () => get(`/v1/requests/${known}`),
  'getRequest 404': () => service.read(traceId()),
  'getRequest 503': () => cutOff.read(known),
  'getMetrics 200': () => metrics('text/plain'),
  'getHealth 200': () => get('/healthz'),
  'getReadiness 200': () => get('/readyz'),
  'getReadiness 503': () => cutOff.send('/readyz', { method: 'GET' }),
};

function expectDocumented(
  answer: Answer,
  operationId: string,
  status: string,
  { content, headers = {} }: ResponseObject,
) {
  if (status !== 'default') expect(answer.status).toBe(Number(status));
  for (const name of Object.keys(headers)) expect(answer.headers[name.toLowerCase()]).toBeDefined();
  const type = answer.headers['content-type']?.split(';')[0];
  if (content === undefined) return expect([type, answer.text]).toEqual([undefined, '']);
  expect(Object.keys(content)).toContain(type);
  const { schema } = content[type!]!;
  // References lead into the document.
  const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
  const validate = ajv.compile(inDocument);
  expect([validate(type === 'application/json' ? answer.json : answer.text), validate.errors], operationId).toEqual([
    true,
    null,
  ]);
}

describe('each documented answer is what the running service gives', () => {
  test.each(documented.filter(({ status }) => status !== 'default'))(
    '$operationId $status',
    async ({ operationId, status, response }) => {
      const provoke = PROVOKED[`${operationId} ${status}`];
      if (provoke === undefined) throw new Error('nothing here brings this answer about');
      expectDocumented(await provoke(), operationId, status, response);
    },
  );

  test('the metrics also as OpenMetrics', async () => {
    const { response } = documented.find(({ operationId }) => operationId === 'getMetrics')!;
    expectDocumented(await metrics('application/openmetrics-text'), 'getMetrics', '200', response);
  });

  test('and the answer to what nobody foresaw', async () => {
    const { response } = documented.find(({ status }) => status === 'default')!;
    const broken = new Map([['/v1/beacons', () => Promise.reject(new Error('unforeseen'))]]);
    const server = createServer(
      broken,
      () => {},
      createLog('error', () => {}),
    );
    const listening = await listen(server, '127.0.0.1', 0, 'PORT');
    try {
      const answer = await send(`${listening.url}/v1/beacons`, { body: '{}' });
      expect(answer).toMatchObject({ status: 500, json: { error: { code: 'internal_error' } } });
      expectDocumented(answer, 'any', 'default', response);
    } finally {
      await listening.close(0);
    }
  });
});
