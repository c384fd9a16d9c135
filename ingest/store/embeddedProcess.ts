import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { program } from './embeddedBinaries.ts';
import { EmbeddedPostgresError } from './embeddedErrors.ts';
import { readLockFile } from './embeddedLock.ts';
import type { Place } from './embeddedUser.ts';

const POLL_MS = 10;
/** A fast shutdown writes a checkpoint. If that takes longer, the server ends at once and replays its log at the next start. */
const FAST_STOP_MS = 5_000;

/**
 * Keeps the server from outliving us, however we end, kill -9 included: a watcher holds the other end of a pipe (descriptor 3), and
 * when that closes without a word it asks the server to stop. The server itself replaces the shell, so that its process id, exit
 * status and signals are ours without a go-between. The watcher is orphaned on purpose: PostgreSQL would take a child that it does
 * not know for a crashed backend.
 */
const LIFELINE = '( ( read -r word <&3 || kill -INT $$ ) >/dev/null 2>&1 & ); exec "$@" 3<&-';

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
  const ended = watchEnd(child);
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
  const command = [postgres, '-D', place.folder, '-p', String(port)];
  const [file, ...args] = process.platform === 'win32' ? command : ['/bin/sh', '-c', LIFELINE, 'sh', ...command];
  const child = spawn(file!, args, {
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

function watchEnd(child: ChildProcess): Promise<string> {
  const lifeline = child.stdio[3] as Socket;
  lifeline.on('error', () => undefined);
  lifeline.unref();
  const killOnExit = () => child.kill('SIGINT');
  process.once('exit', killOnExit);
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      process.off('exit', killOnExit);
      // The word that lets the watcher go without a kill: the process id may be another's soon.
      lifeline.end('ended\n');
      resolve(signal ? `signal ${signal}` : `exit status ${code}`);
    });
  });
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
