import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { createDatabase } from './database.ts';
import { query, TOKEN } from './service.ts';
import { traceId } from './serviceEvents.ts';
import { openRaw, send } from './serviceHttp.ts';
import { startLoad } from './serviceLoad.ts';
import { embeddedPid, endProcess, type ServiceProcess, spawnService } from './serviceProcess.ts';
import { openProxy } from './serviceProxy.ts';
import { until } from './serviceWait.ts';

/** A stop may take 10 s; the exit itself and a busy machine add a little. */
const STOP_MS = 10_500;

let dataDir: string;
let running: ServiceProcess[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-shutdown-'));
});
afterEach(async () => {
  for (const service of running) await endProcess(service);
  running = [];
  await until('the embedded PostgreSQL to end', async () => (await embeddedPid(dataDir)) === undefined);
  await rm(dataDir, { recursive: true, force: true });
});

function start(env: NodeJS.ProcessEnv = { DATA_DIR: dataDir }): ServiceProcess {
  const service = spawnService({ INGEST_TOKEN: TOKEN, BEACON_RATE: '0', ...env });
  running.push(service);
  return service;
}

async function stopped(service: ServiceProcess, signal: NodeJS.Signals = 'SIGTERM') {
  const began = performance.now();
  service.child.kill(signal);
  const code = await service.exited;
  return { code, ms: performance.now() - began };
}

async function storedOf(url: string, keys: readonly string[]): Promise<number> {
  const [row] = await query<{ n: number }>(
    url,
    'SELECT count(*)::int AS n FROM requests WHERE trace_id = ANY ($1::uuid[])',
    [keys],
  );
  return row!.n;
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s under load', (signal) => {
  test('every acknowledged event is in the database, the exit code is 0, PostgreSQL has gone', async () => {
    const service = start();
    const { publicUrl } = await service.ready();
    const load = startLoad(publicUrl, 8, 5);
    await until('posts', () => load.acknowledged.length > 1_000);
    const { code, ms } = await stopped(service, signal);
    await load.stop();
    expect([code, service.stderr()]).toEqual([0, '']);
    expect(ms).toBeLessThan(STOP_MS);
    expect(service.log.slice(-2).map(({ message }) => message)).toEqual(['stopping', 'stopped']);
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(new Set(load.refused).has(500)).toBe(false);
    expect(await embeddedPid(dataDir)).toBeUndefined();
    const server = await startEmbedded({ dataDir });
    try {
      expect(await storedOf(server.url, load.acknowledged)).toBe(load.acknowledged.length);
    } finally {
      await server.stop();
    }
  });
});

test('kill -9 under load: after a restart on the same folder every acknowledged event is there', async () => {
  const first = start();
  const { publicUrl } = await first.ready();
  const load = startLoad(publicUrl, 8, 5);
  await until('posts', () => load.acknowledged.length > 1_000);
  first.child.kill('SIGKILL');
  await first.exited;
  await load.stop();
  const second = start();
  const again = await second.ready();
  const agents = load.acknowledged.slice(-500);
  for (const key of agents) {
    const answer = await send(`${again.publicUrl}/v1/requests/${key}`, {
      method: 'GET',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(answer.status).toBe(200);
  }
  expect((await stopped(second)).code).toBe(0);
});

describe('a stop is not held up', () => {
  test('by connections that idle, by a body that never ends, nor by one that sends no request', async () => {
    const database = await createDatabase();
    const service = start({ DATABASE_URL: database.url });
    const { publicUrl, adminUrl } = await service.ready();
    const body = await openRaw(publicUrl);
    body.socket.write(
      'POST /v1/beacons HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n{',
    );
    const idle = await openRaw(adminUrl);
    idle.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('an answer', () => idle.received().includes('200 OK'));
    await openRaw(publicUrl);
    const { code, ms } = await stopped(service);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(STOP_MS);
    await Promise.all([body.closed, idle.closed]);
    await database.drop();
  });

  test.each(['refuse', 'hang'] as const)('by a PostgreSQL that is away (%s)', async (passage) => {
    const database = await createDatabase();
    const proxy = await openProxy(database.url);
    const service = start({ DATABASE_URL: proxy.url });
    const { publicUrl } = await service.ready();
    const load = startLoad(publicUrl, 2);
    await until('posts', () => load.acknowledged.length > 20);
    await proxy.set(passage);
    const { code, ms } = await stopped(service);
    await load.stop();
    expect([code, service.stderr()]).toEqual([0, '']);
    expect(ms).toBeLessThan(STOP_MS);
    await proxy.close();
    expect(await storedOf(database.url, load.acknowledged)).toBe(load.acknowledged.length);
    await database.drop();
  });

  test('twice asked is once stopped', async () => {
    const database = await createDatabase();
    const service = start({ DATABASE_URL: database.url });
    await service.ready();
    service.child.kill('SIGTERM');
    service.child.kill('SIGINT');
    expect((await stopped(service)).code).toBe(0);
    expect(service.log.filter(({ message }) => message === 'stopped')).toHaveLength(1);
    await database.drop();
  });

  test('while it still starts: nothing is left running', async () => {
    const service = start();
    await until('PostgreSQL', async () => (await embeddedPid(dataDir)) !== undefined, 30_000);
    await stopped(service);
    await until('PostgreSQL to end', async () => (await embeddedPid(dataDir)) === undefined);
    const next = start();
    const { publicUrl } = await next.ready();
    expect(
      (
        await send(`${publicUrl}/v1/requests/${traceId()}`, {
          method: 'GET',
          headers: { authorization: `Bearer ${TOKEN}` },
        })
      ).status,
    ).toBe(404);
  });
});

test('PostgreSQL of the service dies: it says so and ends with another code than 0', async () => {
  const service = start();
  await service.ready();
  process.kill((await embeddedPid(dataDir))!, 'SIGKILL');
  expect(await service.exited).toBe(1);
  expect(service.log).toContainEqual(
    expect.objectContaining({ level: 'error', message: 'the embedded PostgreSQL ended by itself' }),
  );
});
