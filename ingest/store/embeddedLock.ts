import { randomBytes } from 'node:crypto';
import { link, readFile, readlink, realpath, rename, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DataDirInUseError } from './embeddedErrors.ts';

/** PostgreSQL's postmaster.pid: https://www.postgresql.org/docs/17/storage-file-layout.html */
export interface LockFile {
  pid: number;
  port: number;
  /** `starting`, `ready`, `stopping`; empty in the first moment. */
  status: string;
}

const POLL_MS = 20;
/** A service that was killed takes its server with it; this long we wait for the server to begin to stop … */
const NOTICE_MS = 1_000;
/** … and this long for it to end. */
const STOPPING_MS = 30_000;

export function parseLockFile(text: string): LockFile | undefined {
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3] ?? 0), status: lines[7]?.trim() ?? '' };
}

export async function readLockFile(folder: string): Promise<LockFile | undefined> {
  return parseLockFile(await readFile(lockPath(folder), 'utf8').catch(() => ''));
}

/**
 * Returns once no live server owns the folder; else throws DataDirInUseError. A lock file whose process is dead is left to
 * PostgreSQL, which checks and replaces it itself. One that names a live process which is no server of this folder (the number was
 * given out again, as after a reboot), or none at all, would stop PostgreSQL for ever and is removed.
 */
export async function awaitFree(folder: string): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const text = await readFile(lockPath(folder), 'utf8').catch(() => undefined);
    if (text === undefined) return;
    const lock = parseLockFile(text);
    const waitedMs = Date.now() - startedAt;
    if (!lock) {
      // Either being written at this moment, or torn by a power cut.
      if (waitedMs > NOTICE_MS) return removeLock(folder, text);
    } else {
      if (!processExists(lock.pid)) return;
      if (!(await isServerOf(folder, lock))) return removeLock(folder, text);
      if (waitedMs > (lock.status === 'stopping' ? STOPPING_MS : NOTICE_MS))
        throw new DataDirInUseError(folder, lock.pid);
    }
    await wait(POLL_MS);
  }
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists, but is another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** In doubt the answer is yes: a needless error is better than two servers on one folder. */
async function isServerOf(folder: string, lock: LockFile): Promise<boolean> {
  if (process.platform !== 'linux') return answers(lock.port);
  const proc = `/proc/${lock.pid}`;
  try {
    // A postmaster works in its data folder.
    return (await readlink(`${proc}/cwd`)) === (await realpath(folder));
  } catch {
    // Gone, a zombie (as under a container's init that reaps nobody), or another user's, whose command is public.
    const command = await readFile(`${proc}/cmdline`, 'utf8').catch(() => undefined);
    return command === undefined ? processExists(lock.pid) : /postgres|postmaster/.test(command);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Moved aside and looked at again: had another start replaced the file meanwhile, its lock is put back. */
async function removeLock(folder: string, judged: string): Promise<void> {
  const aside = `${lockPath(folder)}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(lockPath(folder), aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== judged) await link(aside, lockPath(folder)).catch(() => undefined);
  await rm(aside);
}

function lockPath(folder: string): string {
  return path.join(folder, 'postmaster.pid');
}
