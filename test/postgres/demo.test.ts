import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from './serviceWait.ts';

const DEADLINE_MS = 60_000;

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'firsttoken-demo-'));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

it('joins every request, rejects none, and leaves nothing running', async () => {
  const demo = run('--for', '4s', '--rate', '6', '--seed', '7');
  const [code] = await once(demo.child, 'close');
  expect(demo.output()).toContain('All joined, none rejected.');
  expect(code).toBe(0);
  await expectNoServer(demo.output());
  expect(demo.output()).toMatch(
    /gateway: (nginx, with provisioning|a hop .* in place of nginx \(nginx is not on the PATH: )/,
  );
  // One id leads through the lines of all parts.
  const logs = (name: string) => readFile(join(dataDir, 'logs', `${name}.json.log`), 'utf8');
  const { trace_id: traceId } = JSON.parse((await logs('backend')).split('\n')[0]!);
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(await logs('ingest')).toContain(traceId);
  if (demo.output().includes('gateway: nginx')) expect(await logs('nginx.access')).toContain(traceId);
});

it('ends in order at Ctrl-C', async () => {
  const demo = run('--rate', '6');
  await until('streams are joined', () => /joined=100/.test(demo.output()), DEADLINE_MS);
  demo.child.kill('SIGINT');
  const [code] = await once(demo.child, 'close');
  expect(demo.output()).toContain('none rejected');
  expect(code).toBe(0);
  await expectNoServer(demo.output());
});

it('refuses wrong arguments in one line', async () => {
  const demo = run('--rate', 'fast');
  const [code] = await once(demo.child, 'close');
  expect(code).toBe(2);
  expect(demo.output()).toMatch(/--rate/);
});

function run(...options: string[]): { readonly child: ChildProcess; output(): string } {
  const child = spawn(process.execPath, ['--import', 'tsx', 'demo/main.ts', '--plain', ...options], {
    env: { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
  return { child, output: () => text };
}

/** The service's address no longer answers, and PostgreSQL has removed its lock file. */
async function expectNoServer(output: string): Promise<void> {
  const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
  await expect(fetch(`${address}/healthz`)).rejects.toThrow();
  await expect(readFile(join(dataDir, 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
}
