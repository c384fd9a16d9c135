import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { LogLine } from './service.ts';
import { send } from './serviceHttp.ts';
import { until } from './serviceWait.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** The service as `npm start` runs it, in a process of its own. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  /** JSON lines of standard output so far. */
  readonly log: readonly LogLine[];
  stderr(): string;
  /** Resolves when it listens; rejects when it ends before. */
  ready(): Promise<{ publicUrl: string; adminUrl: string }>;
  /** Resolves with the exit code; null after a signal that it did not handle. */
  readonly exited: Promise<number | null>;
}

/** @param env on top of free ports, and no spool without a DATA_DIR; nothing else of this process's environment is passed on but PATH */
export function spawnService(env: NodeJS.ProcessEnv): ServiceProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'ingest/main.ts'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      ADMIN_PORT: '0',
      ...(env['DATA_DIR'] ? {} : { SPOOL_MAX_BYTES: '0' }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: LogLine[] = [];
  let rest = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) log.push(JSON.parse(line) as LogLine);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  return {
    child,
    log,
    stderr: () => stderr,
    exited,
    async ready() {
      const line = await until(
        'the service to be ready',
        () => log.find(({ message }) => message === 'ready') ?? (ended && { level: 'error', message: 'ended' }),
        60_000,
      );
      if (line.message !== 'ready') throw new Error(`ended before it was ready:\n${JSON.stringify(log)}\n${stderr}`);
      const urls = { publicUrl: String(line['public']), adminUrl: String(line['admin']) };
      // It says that it is ready just before it listens to signals; by the time it answers it does both.
      await until('an answer', async () => (await send(`${urls.publicUrl}/healthz`, { method: 'GET' })).status === 200);
      return urls;
    },
  };
}

/** Kills what still runs; for the end of a test. */
export async function endProcess({ child, exited }: ServiceProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

/** Process id of the PostgreSQL in a DATA_DIR, if one runs. */
export async function embeddedPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!pid) return undefined;
  // A zombie, which waits for its parent to notice, does not run.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat === '' || /\) Z /.test(stat) ? undefined : pid;
}
