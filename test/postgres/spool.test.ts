import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';
import { expectExactRollups } from './rollupRecount.ts';
import { openService, query, type RunningService, TOKEN } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { startLoad } from './serviceLoad.ts';
import { scrape } from './serviceMetrics.ts';
import { endProcess, spawnService } from './serviceProcess.ts';
import { type DatabaseProxy, openProxy } from './serviceProxy.ts';
import { until } from './serviceWait.ts';

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
  cleanups = [];
});

interface Stage {
  readonly database: TestDatabase;
  readonly proxy: DatabaseProxy;
  readonly dataDir: string;
}

async function openStage(): Promise<Stage> {
  const database = await createDatabase();
  cleanups.push(() => database.drop());
  const proxy = await openProxy(database.url);
  cleanups.push(() => proxy.close());
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-spool-'));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  return { database, proxy, dataDir };
}

async function openOn({ proxy, dataDir }: Stage, env: NodeJS.ProcessEnv = {}): Promise<RunningService> {
  const service = await openService({ databaseUrl: proxy.url, env: { DATA_DIR: dataDir, ...env } });
  cleanups.push(() => service.stop());
  return service;
}

const spoolBytes = async (service: RunningService) => (await scrape(service)).sum('firsttoken_spool_bytes');
const emptied = (service: RunningService) =>
  until('the spool to be empty', async () => (await spoolBytes(service)) === 0, 30_000);

async function spoolFiles(dataDir: string): Promise<string[]> {
  const names = await readdir(path.join(dataDir, 'spool'), { recursive: true });
  return names.filter((name) => name.endsWith('.spool')).map((name) => path.join(dataDir, 'spool', name));
}

/** Every acknowledged key has one row; rollups are a recount; each half was counted at most once, and exactly once by `counter`. */
async function expectAllStored(databaseUrl: string, keys: readonly string[], counter?: RunningService): Promise<void> {
  const [found] = await query(
    databaseUrl,
    'SELECT count(*)::int AS rows, count(DISTINCT trace_id)::int AS keys FROM requests WHERE trace_id = ANY ($1::uuid[])',
    [keys],
  );
  expect(found).toEqual({ rows: keys.length, keys: keys.length });
  await expectExactRollups(databaseUrl);
  if (counter === undefined) return;
  const [all] = await query<{ servers: number; clients: number }>(
    databaseUrl,
    'SELECT count(server_source)::int AS servers, count(status)::int AS clients FROM requests',
  );
  const metrics = await scrape(counter);
  expect({
    servers: metrics.sum('ttft_seconds_count'),
    clients: metrics.sum('ttft_client_seconds_count'),
  }).toEqual(all);
}

/** A spool that a killed process left, with so many events acknowledged. */
async function leaveSpool(stage: Stage, events: number): Promise<string[]> {
  const service = spawnService({ DATABASE_URL: stage.proxy.url, DATA_DIR: stage.dataDir, INGEST_TOKEN: TOKEN });
  cleanups.push(() => endProcess(service));
  const { publicUrl } = await service.ready();
  await stage.proxy.set('refuse');
  const keys = Array.from({ length: events }, traceId);
  for (const key of keys) {
    const answer = await fetch(`${publicUrl}/v1/server-timings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(serverRecord({ trace_id: key })),
    });
    expect(answer.status).toBe(202);
  }
  await endProcess(service);
  await stage.proxy.set('open');
  return keys;
}

test.each(['refuse', 'hang'] as const)(
  'PostgreSQL away (%s) under load: no refusal, and all is stored once when it is back',
  async (how) => {
    const stage = await openStage();
    const service = await openOn(stage);
    const posts = startLoad(service.publicUrl, 6, 3);
    await until('posts', () => posts.acknowledged.length > 60);
    await stage.proxy.set(how);
    const before = posts.acknowledged.length;
    await until('posts into the spool', () => posts.acknowledged.length > before + 600, 20_000);
    const ready = await service.send('/readyz', { method: 'GET' });
    expect([ready.status, ready.json]).toEqual([200, { ready: true, spooling: true }]);
    expect(await spoolBytes(service)).toBeGreaterThan(0);
    expect((await service.read(traceId())).status).toBe(503);
    await stage.proxy.set('open');
    await emptied(service);
    const after = posts.acknowledged.length;
    await until('posts into PostgreSQL', () => posts.acknowledged.length > after + 60);
    await posts.stop();
    expect(posts.refused).toEqual([]);
    await emptied(service);
    await expectAllStored(stage.database.url, posts.acknowledged, service);
    expect((await scrape(service)).sum('firsttoken_spool_oldest_seconds')).toBe(0);
    expect(await spoolFiles(stage.dataDir)).toEqual([]);
  },
);

test('both halves of a request, one before and one during the outage, and a model that nobody knew', async () => {
  const stage = await openStage();
  const service = await openOn(stage);
  const [key, fresh] = [traceId(), traceId()];
  expect((await service.postTimings(serverRecord({ trace_id: key }))).status).toBe(202);
  await stage.proxy.set('refuse');
  expect((await service.postBeacons(beacon({ trace_id: key }))).status).toBe(202);
  expect((await service.postTimings(serverRecord({ trace_id: fresh, model: 'new in the outage' }))).status).toBe(202);
  await stage.proxy.set('open');
  await emptied(service);
  expect((await service.read(key)).json).toMatchObject({ joined: true });
  expect((await service.read(fresh)).json).toMatchObject({ server: { model: 'new in the outage' } });
  await expectAllStored(stage.database.url, [key, fresh], service);
});

test('killed while it spools: the next start stores all of it, once', async () => {
  const stage = await openStage();
  const keys = await leaveSpool(stage, 40);
  const service = await openOn(stage);
  await emptied(service);
  await expectAllStored(stage.database.url, keys, service);
});

test('killed in the middle of draining: what was stored already is neither doubled nor counted again', async () => {
  const stage = await openStage();
  const keys = await leaveSpool(stage, 30);
  const [file] = await spoolFiles(stage.dataDir);
  const content = await readFile(file!);
  const first = await openOn(stage);
  await emptied(first);
  await first.stop();
  // As if it had been killed between the commit and the removal.
  const folder = path.join(stage.dataDir, 'spool', '000000000000001-1-1');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, '00000001.spool'), content);
  await writeFile(path.join(folder, 'owner.json'), '{"host":"elsewhere","pid":1,"started":""}');
  await utimes(path.join(folder, 'owner.json'), 1, 1);
  const second = await openOn(stage);
  await until('the adopted spool to be drained', async () => (await spoolFiles(stage.dataDir)).length === 0, 20_000);
  await expectAllStored(stage.database.url, keys);
  expect((await scrape(second)).sum('ttft_seconds_count')).toBe(0);
});

test('a torn end and a damaged record: all others are stored, and the damage is told', async () => {
  const stage = await openStage();
  const keys = await leaveSpool(stage, 10);
  // A look whether PostgreSQL is back may have begun a second file.
  const files = await Promise.all(
    (await spoolFiles(stage.dataDir)).map(async (file) => ({ file, content: await readFile(file) })),
  );
  const { file, content } = files.find((each) => each.content.includes(keys[4]!))!;
  const at = content.indexOf(keys[4]!);
  content[at] = content[at]! ^ 1;
  await writeFile(file, content);
  await appendFile(file, content.subarray(0, 100));
  const service = await openOn(stage);
  await emptied(service);
  await expectAllStored(
    stage.database.url,
    keys.filter((_, index) => index !== 4),
    service,
  );
  expect((await scrape(service)).sum('firsttoken_spool_damaged_total')).toBe(1);
});

test('a full spool: 503 with Retry-After, what was acknowledged is kept, and there is room again afterwards', async () => {
  const stage = await openStage();
  const service = await openOn(stage, { SPOOL_MAX_BYTES: '20000' });
  await stage.proxy.set('refuse');
  const keys: string[] = [];
  let status = 202;
  while (status === 202) {
    const key = traceId();
    const answer = await service.postTimings(serverRecord({ trace_id: key }));
    status = answer.status;
    if (status === 202) keys.push(key);
    else expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(status).toBe(503);
  expect(keys.length).toBeGreaterThan(3);
  expect(await spoolBytes(service)).toBeLessThanOrEqual(20_000);
  await stage.proxy.set('open');
  await emptied(service);
  const next = traceId();
  expect((await service.postTimings(serverRecord({ trace_id: next }))).status).toBe(202);
  await expectAllStored(stage.database.url, [...keys, next], service);
});

test('two processes share a DATA_DIR: each spools for itself, neither takes what the other still owns', async () => {
  const stage = await openStage();
  const [one, other] = [await openOn(stage), await openOn(stage)];
  await stage.proxy.set('refuse');
  const keys = [traceId(), traceId()];
  expect((await one.postTimings(serverRecord({ trace_id: keys[0]! }))).status).toBe(202);
  expect((await other.postTimings(serverRecord({ trace_id: keys[1]! }))).status).toBe(202);
  expect(await spoolFiles(stage.dataDir)).toHaveLength(2);
  await stage.proxy.set('open');
  await emptied(one);
  await emptied(other);
  await expectAllStored(stage.database.url, keys);
});

test('stopped while PostgreSQL is away: what was acknowledged stays on disk for the next start', async () => {
  const stage = await openStage();
  const first = await openService({ databaseUrl: stage.proxy.url, env: { DATA_DIR: stage.dataDir } });
  await stage.proxy.set('refuse');
  const key = traceId();
  expect((await first.postTimings(serverRecord({ trace_id: key }))).status).toBe(202);
  await first.stop();
  expect(await spoolFiles(stage.dataDir)).toHaveLength(1);
  await stage.proxy.set('open');
  const next = await openOn(stage);
  await until('the spool of the stopped one', async () => (await spoolFiles(stage.dataDir)).length === 0, 20_000);
  await expectAllStored(stage.database.url, [key], next);
});
