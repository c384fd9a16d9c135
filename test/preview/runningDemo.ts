import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../postgres/serviceWait.ts';

const ROOT = path.join(import.meta.dirname, '../..');

export interface RunningDemo {
  readonly previewUrl: string;
  readonly adminUrl: string;
  readonly databaseUrl: string;
  readonly logFolder: string;
  /** Since it was started, milliseconds. */
  ageMs(): number;
  stop(): Promise<void>;
}

/** `npm run demo` as a stranger starts it, in a folder of its own. */
export async function startDemo(ratePerSecond: number, ...more: readonly string[]): Promise<RunningDemo> {
  const began = performance.now();
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-demo-'));
  await chmod(folder, 0o755);
  const child = spawn('npm', ['run', 'demo', '--', '--plain', '--rate', String(ratePerSecond), ...more], {
    cwd: ROOT,
    // Any ports: the usual ones may be another demo's by the time they are taken.
    env: { ...process.env, DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // npm and its child are one group, as in a terminal.
    detached: true,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'close');
  const said = (pattern: RegExp, withinMs = 60_000): Promise<string> =>
    until(String(pattern), () => pattern.exec(output)?.[1], withinMs);
  const stop = async (): Promise<void> => {
    // The second one ends it without waiting for open answers.
    for (const signal of ['SIGINT', 'SIGINT'] as const) {
      try {
        process.kill(-child.pid!, signal);
      } catch {
        // It has ended by itself; its output says why.
      }
    }
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const previewUrl = await said(/dashboards on (http\S+)/);
    const adminUrl = await said(/metrics on (http\S+)/);
    // A history takes its time.
    await said(/(started=\d+)/, 300_000);
    const password = (await readFile(path.join(folder, 'postgres/firsttoken.password'), 'utf8')).trim();
    const port = (await readFile(path.join(folder, 'postgres/postmaster.pid'), 'utf8')).split('\n')[3];
    return {
      previewUrl,
      adminUrl,
      databaseUrl: `postgres://firsttoken:${password}@127.0.0.1:${port}/postgres`,
      logFolder: path.join(folder, 'logs'),
      ageMs: () => performance.now() - began,
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(output, { cause: error });
  }
}
