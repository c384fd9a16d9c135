import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from './database.ts';
import { query } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { send } from './serviceHttp.ts';
import { endProcess, type ServiceProcess, spawnService } from './serviceProcess.ts';

let database: TestDatabase;
let running: ServiceProcess[] = [];
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const service of running) await endProcess(service);
  running = [];
  await database.drop();
});

function start(env: NodeJS.ProcessEnv): ServiceProcess {
  const service = spawnService({ DATABASE_URL: database.url, ...env });
  running.push(service);
  return service;
}

const errorOf = ({ log }: ServiceProcess) =>
  log.find(({ level }) => level === 'error') as { message: string; error: { message: string } } | undefined;

describe('a wrong configuration stops the start with code 2, nothing on standard output, and every fault named', () => {
  test('many at once', async () => {
    const wrong = {
      PORT: '65536',
      ADMIN_PORT: 'none',
      DATABASE_URL: 'mysql://x',
      INGEST_TOKEN: 'short',
      BEACON_ORIGINS: 'https://app.example/path',
      BEACON_RATE: '-1',
      TRUST_PROXY_HOPS: 'true',
      REGION_HEADER: 'not a header',
      RETENTION_DAYS: '0',
      JOIN_WAIT: '1m',
      EXPECT_GATEWAY: 'maybe',
      LOG_LEVEL: 'loud',
    };
    const service = start(wrong);
    expect(await service.exited).toBe(2);
    expect(service.log).toEqual([]);
    const lines = service.stderr().trim().split('\n');
    expect(lines).toHaveLength(Object.keys(wrong).length + 1);
    for (const name of Object.keys(wrong))
      expect(lines.filter((line) => line.includes(`- ${name} must`))).toHaveLength(1);
    // What was given could be a secret.
    expect(service.stderr()).not.toContain('short');
  });

  test.each([
    ['a foreign address without a token', { HOST: '0.0.0.0' }, 'INGEST_TOKEN must be set'],
    ['one port twice', { PORT: '8081', ADMIN_PORT: '8081' }, 'ADMIN_PORT must differ'],
  ])('%s', async (_, env, fault) => {
    const service = start(env);
    expect(await service.exited).toBe(2);
    expect(service.stderr()).toContain(fault);
  });
});

describe('what cannot start says why, with code 1 and one line', () => {
  test.each(['PORT', 'ADMIN_PORT'])('%s is taken', async (variable) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const service = start({ [variable]: String(port) });
    expect(await service.exited).toBe(1);
    holder.close();
    expect(errorOf(service)).toMatchObject({
      message: 'the service did not start',
      error: {
        message: `cannot listen on 127.0.0.1: port ${port} is taken: set ${variable} to another one, or to 0 for a free one`,
      },
    });
    expect(service.stderr()).toBe('');
  });

  test('nobody answers at DATABASE_URL; its password is not told', async () => {
    const service = start({ DATABASE_URL: 'postgres://me:secret-word@127.0.0.1:1/none' });
    expect(await service.exited).toBe(1);
    expect(errorOf(service)!.error.message).toMatch(/ECONNREFUSED|connect/);
    expect(JSON.stringify(service.log) + service.stderr()).not.toContain('secret-word');
  });

  test('DATA_DIR belongs to another service', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-process-'));
    const server = await startEmbedded({ dataDir });
    try {
      const service = start({ DATABASE_URL: '', DATA_DIR: dataDir });
      expect(await service.exited).toBe(1);
      expect(errorOf(service)!.error.message).toContain('is in use by the PostgreSQL server');
    } finally {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

test('with nothing but a database it starts on free ports, says which, and warns that anybody here may write', async () => {
  const service = start({});
  const { publicUrl, adminUrl } = await service.ready();
  expect(publicUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(adminUrl).not.toBe(publicUrl);
  const key = traceId();
  const post = (at: string, body: object) =>
    send(publicUrl + at, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  expect((await post('/v1/server-timings', serverRecord({ trace_id: key }))).status).toBe(202);
  expect((await post('/v1/beacons', beacon({ trace_id: key }))).status).toBe(202);
  expect((await send(`${publicUrl}/v1/requests/${key}`, { method: 'GET' })).json.joined).toBe(true);
  expect(service.log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    expect.stringContaining('no INGEST_TOKEN is set'),
  ]);
  for (const line of service.log)
    expect(line).toMatchObject({
      time: expect.stringMatching(/Z$/),
      level: expect.any(String),
      message: expect.any(String),
    });
});

test('three replicas that start at once on an empty database share its rows and its label values', async () => {
  const empty = await createEmptyDatabase();
  try {
    const replicas = [1, 2, 3].map(() => start({ DATABASE_URL: empty.url }));
    const urls = await Promise.all(replicas.map((replica) => replica.ready()));
    const key = traceId();
    const json = { 'content-type': 'application/json' };
    await send(`${urls[0]!.publicUrl}/v1/server-timings`, {
      headers: json,
      body: JSON.stringify(serverRecord({ trace_id: key })),
    });
    await send(`${urls[1]!.publicUrl}/v1/beacons`, { headers: json, body: JSON.stringify(beacon({ trace_id: key })) });
    expect((await send(`${urls[2]!.publicUrl}/v1/requests/${key}`, { method: 'GET' })).json).toMatchObject({
      joined: true,
      client: { ttft_ms: 412.3 },
      server: { model: 'llama' },
    });
    expect(await query(empty.url, 'SELECT count(*)::int AS n FROM requests')).toEqual([{ n: 1 }]);
  } finally {
    for (const service of running) await endProcess(service);
    await empty.drop();
  }
});
