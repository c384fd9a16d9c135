import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbedded } from '../../ingest/store/embedded.ts';
import { findBinaries } from '../../ingest/store/embeddedBinaries.ts';
import { openFolder } from '../../ingest/store/embeddedFolder.ts';
import { choosePlace } from '../../ingest/store/embeddedUser.ts';

let dataDir: string;
let running: (EmbeddedPostgres | ChildProcess)[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-embedded-'));
});
afterEach(async () => {
  for (const each of running) {
    if ('stop' in each) await each.stop();
    else if (each.exitCode === null && each.signalCode === null) {
      each.kill('SIGTERM');
      await once(each, 'exit');
    }
  }
  running = [];
  await rm(dataDir, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dataDir, ...options });
  running.push(server);
  return server;
}

const failure = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error: Error) => error,
  );
const folder = () => path.join(dataDir, 'postgres');

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

/** Whether it runs: a zombie, which waits for its parent to notice, does not. */
async function runs(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text !== '' && !/\) Z /.test(text);
}

async function gone(pid: number): Promise<void> {
  while (await runs(pid)) await wait(10);
}

interface Service {
  child: ChildProcess;
  /** Waits for a line that has the key. */
  line(key: string): Promise<Record<string, string>>;
}

function startService(
  options: { uid?: number; gid?: number; detached?: boolean; limit?: string; dir?: string } = {},
): Service {
  const { limit = 'true', dir = dataDir, ...spawnOptions } = options;
  const script = path.join(import.meta.dirname, 'embeddedService.ts');
  const command = [process.execPath, '--import', 'tsx', script, dir];
  const child = spawn('/bin/sh', ['-c', `${limit}; exec "$@"`, 'sh', ...command], {
    ...spawnOptions,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.push(child);
  const lines: Record<string, string>[] = [];
  const reader = createInterface({ input: child.stdout! });
  reader.on('line', (text) => lines.push(JSON.parse(text)));
  const line = async (key: string) => {
    for (;;) {
      const found = lines.find((each) => key in each);
      if (found) return found;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended without ${key}`);
      await Promise.race([once(reader, 'line'), once(child, 'exit')]);
    }
  };
  return { child, line };
}

test('a new folder is made within 6 s, an existing one opened within 2 s with its data', async () => {
  const madeFrom = performance.now();
  const first = await start();
  expect(performance.now() - madeFrom).toBeLessThan(6_000);
  await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS value');
  await first.stop();

  const openedFrom = performance.now();
  const second = await start();
  expect(performance.now() - openedFrom).toBeLessThan(2_000);
  expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['postgres', 'postgres.log', 'postgres.log.1']));
});

test('settings: a commit is durable, times are UTC', async () => {
  const { url } = await start();
  const names = ['fsync', 'synchronous_commit', 'TimeZone', 'max_connections', 'jit', 'shared_buffers', 'max_wal_size'];
  const rows = await query(
    url,
    `SELECT name, current_setting(name) AS value FROM unnest('{${names}}'::text[]) AS name`,
  );
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual({
    fsync: 'on',
    synchronous_commit: 'on',
    TimeZone: 'UTC',
    max_connections: '50',
    jit: 'off',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
  });
});

test('only loopback is served, and only with the password', async () => {
  const { url, port } = await start();
  const wrong = new URL(url);
  wrong.password = 'guess';
  expect(await failure(query(wrong.href, 'SELECT'))).toMatchObject({ code: '28P01' });
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find((each) => !each.internal && each.family === 'IPv4');
  if (outside)
    expect(await failure(query(url.replace('127.0.0.1', outside.address), 'SELECT'))).toMatchObject({
      code: 'ECONNREFUSED',
    });
  const { mode } = await stat(path.join(folder(), 'firsttoken.password'));
  expect(mode & 0o777).toBe(0o600);
  expect(new URL(url).port).toBe(String(port));
});

test('stop waits for the process, closes open sessions and may be called again', async () => {
  const server = await start();
  const client = new pg.Client(server.url);
  const closed = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await Promise.all([server.stop(), server.stop()]);
  expect(await runs(server.pid)).toBe(false);
  await closed;
  await server.stop();
});

describe('a folder that another server has', () => {
  test('is refused, and the other goes on', async () => {
    const first = await start();
    const error = await failure(start());
    expect(error).toMatchObject({ name: 'DataDirInUseError', folder: folder(), pid: first.pid });
    expect(error!.message).toContain(`${folder()} is in use by the PostgreSQL server with process id ${first.pid}`);
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('several that start at once on a new folder: one has it', async () => {
    const attempts = await Promise.allSettled([start(), start(), start()]);
    const refused = attempts.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    expect(refused.map((error) => error.name)).toEqual(['DataDirInUseError', 'DataDirInUseError']);
    expect(await readdir(dataDir)).not.toContainEqual(expect.stringContaining('.new-'));
  });
});

describe('after a kill', () => {
  test('of the server: it is reported, and the next start recovers what was committed', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS value');
    process.kill(first.pid, 'SIGKILL');
    expect((await first.exited).message).toContain('has ended (signal SIGKILL)');
    await first.stop();
    const second = await start();
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  });

  test('of the service: its server ends too, and the next start need not wait for a person', async () => {
    const { child, line } = startService();
    const { url, pid } = await line('url');
    await query(url!, 'CREATE TABLE kept AS SELECT 7 AS value');
    child.kill('SIGKILL');
    const second = await start();
    expect(await runs(Number(pid))).toBe(false);
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  });

  test('during initdb: what is half made is removed and made again', async () => {
    const { child, line } = startService();
    await line('log');
    while (!(await readdir(dataDir)).some((name) => name.includes('.new-'))) await wait(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log']);
  });

  test.each([
    ['names a process that is no server', `${process.pid}\n/elsewhere\n1\n1\n\n\n\nready\n`],
    ['names a process that has gone', '4194304\n/elsewhere\n1\n1\n\n\n\nready\n'],
    ['is empty', ''],
  ])('a lock file that %s does not stop the next start', async (_, text) => {
    await (await start()).stop();
    await writeFile(path.join(folder(), 'postmaster.pid'), text);
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await readdir(folder())).not.toContainEqual(expect.stringMatching(/postmaster\.pid\./));
  });
});

describe('the server and the life of its service', () => {
  test('it ends when the service exits without stopping it', async () => {
    const { child, line } = startService();
    const { pid } = await line('url');
    child.stdin!.write('exit\n');
    await once(child, 'exit');
    await gone(Number(pid));
  });

  test('Ctrl-C reaches the service alone, which still has its server to drain into', async () => {
    const { child, line } = startService({ detached: true });
    const { url, pid } = await line('url');
    process.kill(-child.pid!, 'SIGINT');
    await line('interrupted');
    expect(await query(url!, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(await runs(Number(pid))).toBe(false);
  });
});

test('a port that is taken between choice and use is replaced', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const taken = (holder.address() as { port: number }).port;
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const other = (free.address() as { port: number }).port;
  await new Promise((resolve) => free.close(resolve));
  const choices = [taken, taken, other];
  try {
    expect((await start({ choosePort: async () => choices.shift()! })).port).toBe(other);
  } finally {
    holder.close();
  }
});

describe('what cannot be started says why', () => {
  test('a folder of another major version', async () => {
    await (await start()).stop();
    await writeFile(path.join(folder(), 'PG_VERSION'), '16\n');
    expect((await failure(start()))?.message).toMatch(
      /made by PostgreSQL 16; this release brings PostgreSQL 17.*pg_dump/,
    );
  });

  test('a folder of something else', async () => {
    await mkdir(folder());
    await writeFile(path.join(folder(), 'letter.txt'), 'Dear');
    expect((await failure(start()))?.message).toContain('holds no PostgreSQL data');
    expect(await readFile(path.join(folder(), 'letter.txt'), 'utf8')).toBe('Dear');
  });

  test("a setting that PostgreSQL refuses, with the server's own words", async () => {
    await (await start()).stop();
    await writeFile(path.join(folder(), 'postgresql.auto.conf'), "shared_buffers = 'plenty'\n");
    const error = await failure(start());
    expect(error).toMatchObject({ name: 'EmbeddedPostgresError' });
    expect(error!.message).toMatch(/did not start:[\s\S]*invalid value for parameter "shared_buffers"/);
  });

  test('a disk without room, with the words of initdb', async () => {
    // A limit on the size of files fails the same writes that a full disk does.
    const { line } = startService({ limit: 'ulimit -f 64' });
    const error = await line('name');
    expect(error['name']).toBe('EmbeddedPostgresError');
    expect(error['message']).toMatch(/initdb failed on [\s\S]*(File size limit exceeded|File too large)/);
    expect(await readdir(dataDir)).toEqual([]);
  });
});

describe.runIf(process.getuid?.() === 0)('as root', () => {
  const nobody = { uid: 65_534, gid: 65_534 };

  test('the server runs as someone else, on a folder that others cannot list', async () => {
    const { pid } = await start();
    const { uid } = await stat(`/proc/${pid}`);
    expect(uid).not.toBe(0);
    expect((await stat(dataDir)).mode & 0o067).toBe(0);
  });

  test('a folder in a closed place keeps its data under /var/lib/firsttoken, and finds it again', async () => {
    const clone = path.join(dataDir, 'clone');
    await mkdir(clone);
    const messages: string[] = [];
    const options = { dataDir: path.join(clone, '.data'), log: (message: string) => messages.push(message) };
    const first = await start(options);
    const home = /is kept in (\S+)\/postgres$/m.exec(messages.join('\n'))?.[1];
    try {
      expect(home).toMatch(/^\/var\/lib\/firsttoken\/[0-9a-f]{16}$/);
      await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS value');
      await first.stop();
      // Opened to the world meanwhile: the data stay where they are.
      for (const each of [dataDir, clone]) await chmod(each, 0o755);
      const second = await start(options);
      expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
      await second.stop();
    } finally {
      await Promise.all(running.map((each) => 'stop' in each && each.stop()));
      await rm(home!, { recursive: true });
    }
  });

  test('programs in a closed place are copied to where the server can run them', async () => {
    const installed = await findBinaries();
    const version = `${installed.version}-test-${process.pid}`;
    const closed = { root: path.join(dataDir, 'clone', 'native'), version };
    await cp(installed.root, closed.root, { recursive: true, verbatimSymlinks: true });
    const messages: string[] = [];
    const open = await mkdtemp(path.join(tmpdir(), 'firsttoken-open-'));
    const copy = `/var/lib/firsttoken/postgresql-${version}`;
    try {
      const place = await choosePlace(open, closed, (message) => messages.push(message));
      expect(place.binaries).toEqual({ root: copy, version });
      expect(messages).toEqual([expect.stringContaining(`a copy of it is used, ${copy}`)]);
      await openFolder(place, () => undefined);
      expect(await readdir(open)).toEqual(['postgres']);
    } finally {
      await rm(copy, { recursive: true, force: true });
      await rm(open, { recursive: true });
    }
  });

  test('an ordinary user can start it as well, and root goes on with that folder', async () => {
    const home = path.join(dataDir, 'home');
    await mkdir(home);
    for (const each of [dataDir, home]) await chown(each, nobody.uid, nobody.gid);
    const { child, line } = startService({ ...nobody, dir: home });
    const { url } = await line('url');
    await query(url!, 'CREATE TABLE kept AS SELECT 7 AS value');
    child.kill('SIGTERM');
    await once(child, 'exit');
    const asRoot = await start({ dataDir: home });
    expect(await query(asRoot.url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    expect((await stat(`/proc/${asRoot.pid}`)).uid).toBe(nobody.uid);
  });

  test('an ordinary user is told of a folder that belongs to another', async () => {
    await (await start()).stop();
    await chmod(dataDir, 0o777);
    const { line } = startService(nobody);
    expect((await line('message'))['message']).toMatch(/belongs to another user \(id \d+\)/);
  });
});
