import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { holdLifeline, onLifeline } from '../lifeline.ts';
import { program } from './embeddedBinaries.ts';
import { EmbeddedPostgresError } from './embeddedErrors.ts';
import { readLockFile } from './embeddedLock.ts';
import type { Place } from './embeddedUser.ts';

const POLL_MS = 10;
/** A fast shutdown writes a checkpoint. If that takes longer, the server ends at once and replays its log at the next start. */
const FAST_STOP_MS = 5_000;

export interface ServerProcess {
  pid: number;
  /** Resolves when the process has gone, with how it ended. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

/** Nothing of ours but the path: neither PGPORT or PGOPTIONS of a user's shell, nor our own secrets. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return process.platform === 'win32' ? process.env : { PATH: process.env['PATH'], LC_ALL: 'C' };
}

/** Starts the server and returns once it takes connections. Rejects with the end of its output when it ends before. */
export async function startProcess(place: Place, port: number, logFile: string): Promise<ServerProcess> {
  const output = await open(logFile, 'a', 0o600);
  const { size: outputStart } = await output.stat();
  const child = await launch(place, port, output.fd).finally(() => output.close());
  const ended = holdLifeline(child);
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!over) {
    const lock = await readLockFile(place.folder);
    if (lock?.pid === child.pid && lock?.status === 'ready') {
      child.unref();
      return { pid: child.pid!, ended, stop: () => stop(child, ended, place) };
    }
    await wait(POLL_MS);
  }
  throw new EmbeddedPostgresError('PostgreSQL did not start:', { output: await readFrom(logFile, outputStart) });
}

async function launch(place: Place, port: number, outputFd: number): Promise<ChildProcess> {
  const postgres = program(place.binaries, 'postgres');
  const { file, args } = onLifeline([postgres, '-D', place.folder, '-p', String(port)]);
  const child = spawn(file, args, {
    ...place.user,
    cwd: path.dirname(postgres),
    env: serverEnvironment(),
    // Its own session: Ctrl-C in a terminal reaches us, who drain first, and not the server.
    detached: process.platform !== 'win32',
    stdio: ['ignore', outputFd, outputFd, 'pipe'],
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new EmbeddedPostgresError('PostgreSQL could not be started.', { cause })));
  });
  return child;
}

async function stop(child: ChildProcess, ended: Promise<unknown>, place: Place): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  if (process.platform === 'win32')
    spawn(program(place.binaries, 'pg_ctl'), ['stop', '-D', place.folder, '-m', 'fast']);
  else child.kill('SIGINT');
  const impatience = setTimeout(() => child.kill('SIGQUIT'), FAST_STOP_MS);
  await ended;
  clearTimeout(impatience);
}

async function readFrom(file: string, start: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    return (await handle.read({ position: start, buffer: Buffer.alloc(16_384) })).buffer
      .toString('utf8')
      .replaceAll('\0', '');
  } finally {
    await handle.close();
  }
}
