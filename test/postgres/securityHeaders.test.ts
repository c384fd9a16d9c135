import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTHORIZED, openService, type RunningService, TOKEN } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { type Answer, type Sent, send } from './serviceHttp.ts';

let service: RunningService;
beforeAll(async () => {
  service = await openService({ env: { HOST: '0.0.0.0', INGEST_TOKEN: `${TOKEN}, the-next-write-token` } });
});
afterAll(() => service.stop());

/** Under 0.0.0.0 the service says so; a test asks at loopback. */
const at = (path: string, sent: Sent = {}) =>
  send(`${service.publicUrl.replace('0.0.0.0', '127.0.0.1')}${path}`, { headers: AUTHORIZED, ...sent });
const admin = (path: string, sent: Sent = {}) => send(`${service.adminUrl}${path}`, { method: 'GET', ...sent });
const json = (body: unknown) => ({
  headers: { ...AUTHORIZED, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe('every answer says that it is data, to be kept, framed and guessed at by nobody', () => {
  test.each<[string, number, () => Promise<Answer>]>([
    ['events taken', 202, () => at('/v1/beacons', json(beacon({ trace_id: traceId() })))],
    ['events of servers taken', 202, () => at('/v1/server-timings', json(serverRecord({ trace_id: traceId() })))],
    ['logs taken', 200, () => at('/v1/logs', json({ resourceLogs: [] }))],
    ['no JSON', 400, () => at('/v1/beacons', { ...json(0), body: '{' })],
    ['no token', 401, () => at('/v1/server-timings', { headers: {} })],
    ['an origin that is not listed', 403, () => at('/v1/beacons', { headers: { origin: 'https://evil.example' } })],
    ['a preflight', 204, () => at('/v1/beacons', { method: 'OPTIONS', headers: { origin: 'http://localhost' } })],
    ['another method', 405, () => at('/v1/beacons', { method: 'DELETE' })],
    ['another type', 415, () => at('/v1/beacons', { headers: { 'content-type': 'text/html' }, body: 'a' })],
    ['too long', 413, () => at('/v1/beacons', json('x'.repeat(1_100_000)))],
    ['a demand that is not met', 417, () => at('/v1/beacons', { headers: { expect: 'x' }, body: 'a' })],
    ['nothing there', 404, () => at('/nothing', { method: 'GET' })],
    ['a path that cannot be read', 404, () => at('/v1/requests/%E0', { method: 'GET' })],
    ['no such request', 404, () => at(`/v1/requests/${traceId()}`, { method: 'GET' })],
    ['options of another address', 404, () => at('/healthz', { method: 'OPTIONS' })],
    ['alive', 200, () => at('/healthz', { method: 'GET' })],
    ['only the head', 200, () => at('/healthz', { method: 'HEAD' })],
    ['ready', 200, () => at('/readyz', { method: 'GET' })],
    ['the metrics', 200, () => admin('/metrics')],
    [
      'the metrics as OpenMetrics',
      200,
      () => admin('/metrics', { headers: { accept: 'application/openmetrics-text' } }),
    ],
    ['nothing on the admin port', 404, () => admin('/')],
  ])('%s (%i)', async (_, status, ask) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    expect(answer.headers).not.toHaveProperty('server');
    expect(answer.headers['content-type'] ?? '').not.toContain('html');
  });
});

test('the admin port stays on loopback, also when the public one does not', () => {
  expect(service.publicUrl).toContain('//0.0.0.0:');
  expect(service.adminUrl).toContain('//127.0.0.1:');
});

test('both tokens are good while one is being replaced; no part, prefix or list of them is', async () => {
  const statusOf = async (authorization: string | undefined) =>
    (
      await at('/v1/server-timings', {
        ...json(serverRecord({ trace_id: traceId() })),
        headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      })
    ).status;
  for (const token of [TOKEN, 'the-next-write-token']) expect(await statusOf(`Bearer ${token}`)).toBe(202);
  for (const wrong of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN}, the-next-write-token`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${'x'.repeat(8_000)}`,
  ])
    expect(await statusOf(wrong), wrong).toBe(401);
});
