import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../ingest/store/embedded.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import type { Answer } from './serviceHttp.ts';
import { startLoad } from './serviceLoad.ts';
import { scrape } from './serviceMetrics.ts';
import { type DatabaseProxy, openProxy } from './serviceProxy.ts';
import { until } from './serviceWait.ts';

const WITHOUT_SPOOL = { SPOOL_MAX_BYTES: '0' };

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
  cleanups = [];
});

/** A service whose database is behind a proxy. */
async function openBehindProxy(): Promise<{ service: RunningService; proxy: DatabaseProxy; database: TestDatabase }> {
  const database = await createDatabase();
  cleanups.push(() => database.drop());
  const proxy = await openProxy(database.url);
  cleanups.push(() => proxy.close());
  const service = await openService({ databaseUrl: proxy.url, env: WITHOUT_SPOOL });
  cleanups.push(() => service.stop());
  return { service, proxy, database };
}

const readiness = (service: RunningService) =>
  service.send('/readyz', { method: 'GET' }).then(({ status, json }) => [status, json]);

function expectUnavailable(answer: Answer): void {
  expect(answer).toMatchObject({ status: 503, json: { error: { code: 'store_unavailable' } } });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
}

/** Each acknowledged key has one row, and each half of every row was counted once. */
async function expectAllStoredAndCounted(service: RunningService, databaseUrl: string, keys: readonly string[]) {
  const [found] = await query(
    databaseUrl,
    'SELECT count(*)::int AS rows, count(DISTINCT trace_id)::int AS keys FROM requests WHERE trace_id = ANY ($1::uuid[])',
    [keys],
  );
  expect(found).toEqual({ rows: keys.length, keys: keys.length });
  const [all] = await query<{ servers: number; clients: number }>(
    databaseUrl,
    'SELECT count(server_source)::int AS servers, count(status)::int AS clients FROM requests',
  );
  const counted = async () => {
    const metrics = await scrape(service);
    return { servers: metrics.sum('ttft_seconds_count'), clients: metrics.sum('ttft_client_seconds_count') };
  };
  // A commit whose answer was lost is counted a moment later; what is counted twice stays so.
  const complete = async () => {
    const { servers, clients } = await counted();
    return servers >= all!.servers && clients >= all!.clients;
  };
  await until('all to be counted', complete, 5_000).catch(() => {});
  expect(await counted()).toEqual(all);
}

describe('PostgreSQL that refuses', () => {
  test('503 for posts, reads and readiness; never 404 or 500; the process lives, and is well again within seconds', async () => {
    const { service, proxy, database } = await openBehindProxy();
    const [known, kept] = [traceId(), traceId()];
    await service.postTimings(serverRecord({ trace_id: known }));
    expect(await readiness(service)).toEqual([200, { ready: true, spooling: false }]);

    await proxy.set('refuse');
    // Nobody has written yet.
    expect(await readiness(service)).toEqual([503, { ready: false, spooling: false }]);
    const began = performance.now();
    expectUnavailable(await service.postTimings(serverRecord({ trace_id: kept })));
    expect(performance.now() - began).toBeLessThan(6_000);
    expectUnavailable(await service.postTimings(serverRecord({ trace_id: kept, model: 'a model nobody knew' })));
    expectUnavailable(await service.postBeacons(beacon({ trace_id: kept })));
    for (const key of [known, traceId()]) expectUnavailable(await service.read(key));
    expect(await readiness(service)).toEqual([503, { ready: false, spooling: false }]);
    expect((await service.send('/healthz', { method: 'GET' })).status).toBe(200);
    const metrics = await scrape(service);
    expect(metrics.sum('firsttoken_store_up')).toBe(0);
    expect(metrics.sum('firsttoken_ingest_rejected_total', { reason: 'store_unavailable' })).toBe(3);
    expect((await service.postTimings({ trace_id: '-' })).status).toBe(400);

    await proxy.set('open');
    await until('readiness', async () => (await readiness(service))[0] === 200, 3_000);
    expect((await service.postTimings(serverRecord({ trace_id: kept }))).status).toBe(202);
    expect((await service.read(known)).status).toBe(200);
    expect((await service.read(traceId())).status).toBe(404);
    await expectAllStoredAndCounted(service, database.url, [known, kept]);
    expect((await scrape(service)).sum('firsttoken_store_up')).toBe(1);
  });

  test('for a moment only: nobody hears of it', async () => {
    const { service, proxy, database } = await openBehindProxy();
    await proxy.set('refuse');
    const key = traceId();
    const answer = service.postTimings({ trace_id: key, timing_trace: '1,2,3,4,5,6,7' });
    await until('a retry', async () => (await scrape(service)).sum('firsttoken_flush_retries_total') > 0);
    await proxy.set('open');
    expect((await answer).json).toEqual({ accepted: 1, rejected: [] });
    await expectAllStoredAndCounted(service, database.url, [key]);
  });
});

test('PostgreSQL that falls silent: 503 within 10 s each, and well again by itself', async () => {
  const { service, proxy, database } = await openBehindProxy();
  const key = traceId();
  expect((await service.postTimings(serverRecord({ trace_id: key }))).status).toBe(202);
  await proxy.set('hang');
  const began = performance.now();
  const answers = await Promise.all([
    service.postTimings(serverRecord({ trace_id: traceId() })),
    service.postTimings(serverRecord({ trace_id: traceId(), model: 'a model nobody knew' })),
    service.postBeacons(beacon({ trace_id: traceId() })),
    service.read(key),
  ]);
  for (const answer of answers) expectUnavailable(answer);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(await readiness(service)).toEqual([503, { ready: false, spooling: false }]);
  await proxy.set('open');
  await until('readiness', async () => (await readiness(service))[0] === 200, 10_000);
  const next = traceId();
  expect((await service.postTimings(serverRecord({ trace_id: next }))).status).toBe(202);
  await expectAllStoredAndCounted(service, database.url, [key, next]);
});

describe('the answer to a COMMIT is lost', () => {
  test('and the connection comes back: stored once, counted once, acknowledged', async () => {
    const { service, proxy, database } = await openBehindProxy();
    const keys = Array.from({ length: 20 }, traceId);
    const lost = proxy.loseNextCommit();
    const answer = service.postTimings(...keys.map((trace_id) => ({ trace_id, timing_trace: '1,2,3,4,5,6,7' })));
    await lost;
    expect((await answer).json).toEqual({ accepted: 20, rejected: [] });
    await expectAllStoredAndCounted(service, database.url, keys);
  });

  test('and the one of its repetition too', async () => {
    const { service, proxy, database } = await openBehindProxy();
    const [key, other] = [traceId(), traceId()];
    const lost = proxy.loseNextCommit();
    const answer = service.postTimings({ trace_id: key, timing_trace: '1,2,3,4,5,6,7' });
    await lost;
    const lostAgain = proxy.loseNextCommit();
    const next = service.postTimings({ trace_id: other, timing_trace: '1,2,3,4,5,6,7' });
    await lostAgain;
    expect([(await answer).status, (await next).status]).toEqual([202, 202]);
    await expectAllStoredAndCounted(service, database.url, [key, other]);
  });

  test('and PostgreSQL stays away: 503, and what was stored is counted when it is back; the repetition adds nothing', async () => {
    const { service, proxy, database } = await openBehindProxy();
    const key = traceId();
    const lost = proxy.loseNextCommit();
    const answer = service.postTimings({ trace_id: key, timing_trace: '1,2,3,4,5,6,7' });
    await lost;
    await proxy.set('refuse');
    expectUnavailable(await answer);
    expect(await query(database.url, 'SELECT count(*)::int AS rows FROM requests')).toEqual([{ rows: 1 }]);
    expect((await scrape(service)).sum('ttft_seconds_count')).toBe(0);
    await proxy.set('open');
    await until('readiness', async () => (await readiness(service))[0] === 200);
    expect((await scrape(service)).sum('ttft_seconds_count')).toBe(1);
    expect((await service.postTimings({ trace_id: key, timing_trace: '1,2,3,4,5,6,7' })).status).toBe(202);
    await expectAllStoredAndCounted(service, database.url, [key]);
  });
});

test('all connections are terminated again and again under load: nothing lost, nothing doubled', async () => {
  const { service, database } = await openBehindProxy();
  const posts = startLoad(service.publicUrl, 8);
  for (let round = 1; round <= 5; round += 1) {
    await until('posts', () => posts.acknowledged.length > round * 100);
    await query(
      database.url,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  }
  await until('posts', () => posts.acknowledged.length > 700);
  await posts.stop();
  expect(posts.refused).toEqual([]);
  await expectAllStoredAndCounted(service, database.url, posts.acknowledged);
});

test('the network is cut again and again under load: nothing lost, nothing doubled', async () => {
  const { service, proxy, database } = await openBehindProxy();
  const posts = startLoad(service.publicUrl, 8);
  for (let round = 1; round <= 10; round += 1) {
    await until('posts', () => posts.acknowledged.length > round * 60);
    if (round % 2) proxy.cut();
    else await proxy.loseNextCommit();
  }
  await posts.stop();
  expect(posts.refused).toEqual([]);
  await expectAllStoredAndCounted(service, database.url, posts.acknowledged);
});

test.each(['stopped', 'killed'] as const)('a server that is %s under load and started again', async (how) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-outage-'));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  let server: EmbeddedPostgres = await startEmbedded({ dataDir });
  cleanups.push(() => server.stop());
  const { port } = server;
  const service = await openService({ databaseUrl: server.url, env: WITHOUT_SPOOL });
  cleanups.push(() => service.stop());
  const posts = startLoad(service.publicUrl, 4);
  await until('posts', () => posts.acknowledged.length > 100);
  if (how === 'killed') process.kill(server.pid, 'SIGKILL');
  await server.stop();
  await until('a refusal', () => posts.refused.length > 0);
  server = await startEmbedded({ dataDir, choosePort: () => Promise.resolve(port) });
  const before = posts.acknowledged.length;
  const began = performance.now();
  await until('posts', () => posts.acknowledged.length > before + 100);
  expect(performance.now() - began).toBeLessThan(5_000);
  await posts.stop();
  expect(new Set(posts.refused)).toEqual(new Set([503]));
  await expectAllStoredAndCounted(service, server.url, posts.acknowledged);
});
