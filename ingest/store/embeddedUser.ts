import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, cp, lchown, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Binaries, program } from './embeddedBinaries.ts';
import { EmbeddedPostgresError } from './embeddedErrors.ts';

const run = promisify(execFile);

/** Whom the server runs as, where that is not who we are. */
export interface ServerUser {
  uid: number;
  gid: number;
}

export interface Place {
  /** PostgreSQL's data folder; need not exist yet. */
  folder: string;
  binaries: Binaries;
  user: ServerUser | undefined;
}

/** Root's service keeps here what its unprivileged server could not reach elsewhere. */
const SYSTEM_FOLDER = '/var/lib/firsttoken';

/**
 * Decides where the data lies and who runs the server. PostgreSQL refuses to run as root, so root's service runs it as an existing
 * unprivileged user; what that user cannot reach (a clone under /root) is kept under /var/lib/firsttoken. No user is made, and no
 * folder outside `dataDir` changes its mode.
 */
export async function choosePlace(dataDir: string, binaries: Binaries, log: (message: string) => void): Promise<Place> {
  const folder = path.join(dataDir, 'postgres');
  const owner = await ownerOf(folder);
  const self = process.getuid?.();
  if (self === undefined) return { folder, binaries, user: undefined };
  if (self !== 0) {
    if (owner && owner.uid !== self)
      throw new EmbeddedPostgresError(
        `${folder} belongs to another user (id ${owner.uid}): an earlier start ran as that user, or as root. Start as root or as ` +
          'that user, or choose another DATA_DIR.',
      );
    return { folder, binaries, user: undefined };
  }

  const home = path.join(
    SYSTEM_FOLDER,
    createHash('sha256')
      .update(await realpath(dataDir))
      .digest('hex')
      .slice(0, 16),
  );
  const elsewhere = path.join(home, 'postgres');
  const elsewhereOwner = owner ? undefined : await ownerOf(elsewhere);
  // Who made the folder keeps it: so a folder follows neither `sudo` nor a `postgres` user that is installed later.
  const user = [owner, elsewhereOwner].find((someone) => someone && someone.uid !== 0) ?? (await unprivilegedUser());
  if (!elsewhereOwner && (await admit(user, dataDir))) {
    if (owner?.uid === 0) await chownAll(folder, user);
    return { folder, binaries: await reachable(binaries, user, log), user };
  }
  await makeSystemFolder(home);
  log(`${dataDir} is closed to the user that PostgreSQL runs as (id ${user.uid}): its data is kept in ${elsewhere}`);
  return { folder: elsewhere, binaries: await reachable(binaries, user, log), user };
}

async function ownerOf(folder: string): Promise<ServerUser | undefined> {
  try {
    const { uid, gid } = await stat(folder);
    return { uid, gid };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** initdb demands an entry in passwd, so a bare number will not do. */
async function unprivilegedUser(): Promise<ServerUser> {
  for (const name of ['postgres', '_postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(
        ['-u', '-g'].map(async (option) => Number((await run('id', [option, name])).stdout)),
      );
      if (uid! > 0 && gid! > 0) return { uid: uid!, gid: gid! };
    } catch {
      // No such user: try the next.
    }
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and this machine has neither a user postgres nor a user nobody. Start as an ordinary ' +
      'user, or set DATABASE_URL.',
  );
}

/** Whether the user can enter `dataDir`, after its group has been let through (through alone: not to list or to write). */
async function admit(user: ServerUser, dataDir: string): Promise<boolean> {
  if (await canEnter(user, dataDir)) return true;
  if (!(await canEnter(user, path.dirname(dataDir)))) return false;
  const { uid, gid, mode } = await stat(dataDir);
  // A group of people that works with this folder is not shut out of it. (It may be our own group by now: another start's work.)
  if (gid !== 0 && (mode & 0o070) !== 0) return canEnter(user, dataDir);
  await chown(dataDir, uid, user.gid);
  await chmod(dataDir, (mode & 0o7707) | 0o010);
  return canEnter(user, dataDir);
}

/** Asked of the system and not of the mode bits: access lists and mounts have their say too. */
async function canEnter(user: ServerUser, folder: string): Promise<boolean> {
  return succeeds('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], user);
}

async function succeeds(file: string, args: string[], user: ServerUser): Promise<boolean> {
  try {
    await run(file, args, { ...user, cwd: '/' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM')
      throw new EmbeddedPostgresError(
        `PostgreSQL refuses to run as root, and this root may not start programs as user ${user.uid} (no CAP_SETUID). Start as ` +
          'an ordinary user, or set DATABASE_URL.',
        { cause: error },
      );
    return false;
  }
}

async function reachable(binaries: Binaries, user: ServerUser, log: (message: string) => void): Promise<Binaries> {
  if (await succeeds(program(binaries, 'postgres'), ['--version'], user)) return binaries;
  // One build serves every clone: the copy is named for its version and owned by root.
  const root = path.join(SYSTEM_FOLDER, `postgresql-${binaries.version}`);
  const copy = { ...binaries, root };
  if (await succeeds(program(copy, 'postgres'), ['--version'], user)) return copy;
  await makeSystemFolder(SYSTEM_FOLDER);
  const fresh = `${root}.new-${process.pid}`;
  await rm(fresh, { recursive: true, force: true });
  await cp(binaries.root, fresh, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith('.a') });
  await run('chmod', ['-R', 'a+rX', fresh]);
  // Another start may have been quicker; its copy is as good.
  await rename(fresh, root).catch(() => rm(fresh, { recursive: true, force: true }));
  log(`${binaries.root} is closed to the user that PostgreSQL runs as (id ${user.uid}): a copy of it is used, ${root}`);
  return copy;
}

async function makeSystemFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Whatever the umask made of it.
  for (const part of new Set([SYSTEM_FOLDER, folder])) await chmod(part, 0o755);
}

async function chownAll(folder: string, user: ServerUser): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true }))
    await lchown(path.join(folder, entry), user.uid, user.gid);
  await lchown(folder, user.uid, user.gid);
}
