import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

/**
 * Each process spools into a folder of its own, so that no two ever write one file. The folder of a process that is gone is taken over by
 * renaming it, which only one of several can do.
 *
 * Whether a process is gone: on the same machine its number and start time tell at once; on another machine (a container that was
 * replaced, a shared volume) its sign of life, the owner file's time, has to be old.
 */
const OWNER_FILE = 'owner.json';
/** How often a living owner renews its sign. */
export const RENEW_EVERY_MS = 5_000;
/** An owner that could not renew for so long gives its folder up before it writes again … */
export const LEASE_MS = 30_000;
/** … and others take it only later than that. */
const GONE_AFTER_MS = 120_000;

const NOBODY = 0;

interface Owner {
  readonly host: string;
  readonly pid: number;
  /** Tells this process from a later one with the same number; empty where the system does not say. */
  readonly started: string;
}

/** Makes and claims a new folder. @throws when the place cannot be written */
export async function claimFolder(root: string, name: string): Promise<string> {
  const folder = path.join(root, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeOwner(folder);
  return folder;
}

/** Renews the sign of life. @returns whether the folder is still ours */
export async function renewFolder(folder: string): Promise<boolean> {
  const file = path.join(folder, OWNER_FILE);
  const found = await readOwner(folder);
  if (found === null || !sameProcess(found, thisProcess())) return false;
  const now = new Date();
  return utimes(file, now, now).then(
    () => true,
    () => false,
  );
}

/** Takes over the folders that nobody owns any more. @returns their new paths, oldest first */
export async function adoptFolders(root: string, newName: (index: number) => string): Promise<string[]> {
  const adopted: string[] = [];
  for (const name of spoolFolders(root)) {
    const folder = path.join(root, name);
    if (!(await isAbandoned(folder))) continue;
    const own = path.join(root, newName(adopted.length));
    try {
      await rename(folder, own);
      await writeOwner(own);
      adopted.push(own);
    } catch {
      // Another process was faster.
    }
  }
  return adopted;
}

/** Leaves a folder and what is in it to whoever starts next. */
export async function releaseFolder(folder: string): Promise<void> {
  await writeOwner(folder, { ...thisProcess(), pid: NOBODY });
}

/** Removes a folder that holds nothing but its owner's sign. */
export async function leaveFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

function spoolFolders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch {
    return [];
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  const owner = await readOwner(folder);
  const signs = await stat(path.join(folder, OWNER_FILE)).catch(() => stat(folder).catch(() => null));
  if (signs === null) return false;
  if (owner?.pid === NOBODY) return true;
  const silentMs = Date.now() - signs.mtimeMs;
  // A sign that cannot be read is being written at this moment, or was torn by a crash.
  if (owner === null || owner.host !== hostId()) return silentMs > (owner === null ? LEASE_MS : GONE_AFTER_MS);
  return !isAlive(owner);
}

async function readOwner(folder: string): Promise<Owner | null> {
  try {
    const { host, pid, started } = JSON.parse(await readFile(path.join(folder, OWNER_FILE), 'utf8'));
    return typeof host === 'string' && Number.isSafeInteger(pid) && typeof started === 'string'
      ? { host, pid, started }
      : null;
  } catch {
    return null;
  }
}

async function writeOwner(folder: string, owner = thisProcess()): Promise<void> {
  await writeFile(path.join(folder, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
}

let own: Owner | undefined;
function thisProcess(): Owner {
  own ??= { host: hostId(), pid: process.pid, started: startOf(process.pid) ?? '' };
  return own;
}

function sameProcess(one: Owner, other: Owner): boolean {
  return one.host === other.host && one.pid === other.pid && one.started === other.started;
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it exists, but is another user's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = startOf(owner.pid);
  return started === undefined || owner.started === '' || started === owner.started;
}

/** Start of a process in clock ticks since boot (Linux); undefined elsewhere. A zombie counts as gone. */
function startOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return fields[0] === 'Z' ? 'ended' : fields[19];
  } catch {
    return undefined;
  }
}

/** Name and boot of this machine or container: process numbers mean nothing outside of it. */
let host: string | undefined;
function hostId(): string {
  if (host === undefined) {
    let boot = '';
    try {
      boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    } catch {
      // Not Linux: the name has to do.
    }
    host = `${hostname()} ${boot}`.trim();
  }
  return host;
}
