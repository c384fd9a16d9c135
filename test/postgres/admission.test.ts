import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openService, type RunningService, TOKEN } from './service.ts';
import { serverRecord, traceId } from './serviceEvents.ts';
import { scrape } from './serviceMetrics.ts';
import { until } from './serviceWait.ts';

let service: RunningService;
let sockets: net.Socket[] = [];
beforeEach(async () => {
  service = await openService({ env: { MAX_BYTES_IN_FLIGHT: String(1_048_576) } });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await service.stop();
});

async function connect(): Promise<net.Socket> {
  const { hostname, port } = new URL(service.publicUrl);
  const socket = net.connect(Number(port), hostname);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Announces a body and does not send it. */
async function announce(bytes: number): Promise<net.Socket> {
  const socket = await connect();
  socket.write(
    `POST /v1/server-timings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  return socket;
}

const post = () => service.postTimings(serverRecord({ trace_id: traceId() }));

test('bodies under way take up the room: the next is refused at once, unread, and taken when one has left', async () => {
  const held = [await announce(600_000), await announce(448_500)];
  await until('the room to be taken', async () => (await post()).status === 503);
  const began = performance.now();
  const refused = await post();
  expect(performance.now() - began).toBeLessThan(1_000);
  expect(refused).toMatchObject({ status: 503, json: { error: { code: 'overloaded' } } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(refused.headers.connection).toBe('close');
  expect(
    (await scrape(service)).sum('firsttoken_ingest_rejected_total', { reason: 'overloaded' }),
  ).toBeGreaterThanOrEqual(2);
  expect((await service.send('/readyz', { method: 'GET' })).status).toBe(200);
  held[0]!.destroy();
  await until('room again', async () => (await post()).status === 202);
});

test('a body of unknown length counts as the largest', async () => {
  const socket = await connect();
  socket.write(
    `POST /v1/server-timings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  await until('the room to be taken', async () => (await post()).status === 503);
  socket.destroy();
  await until('room again', async () => (await post()).status === 202);
});

test('headers that never end: the connection is answered 408 and closed, others are served meanwhile', async () => {
  const socket = await connect();
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', () => {});
  socket.write('POST /v1/server-timings HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  expect((await post()).status).toBe(202);
  await once(socket, 'close', { signal: AbortSignal.timeout(20_000) });
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
}, 30_000);
