import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { majorVersion, program } from './embeddedBinaries.ts';
import { EmbeddedPostgresError } from './embeddedErrors.ts';
import { processExists } from './embeddedLock.ts';
import { serverEnvironment } from './embeddedProcess.ts';
import type { Place } from './embeddedUser.ts';

const run = promisify(execFile);

export const SUPERUSER = 'firsttoken';
/** Inside the data folder, so that folder and password are made by one rename and moved together. */
export const PASSWORD_FILE = 'firsttoken.password';

/** Names of what this process makes at the moment: a container gives every start the same process id. */
const making = new Set<string>();

/** Makes the data folder unless it is there, and checks that this release can use it. Returns the superuser's password. */
export async function openFolder(place: Place, log: (message: string) => void): Promise<string> {
  const { folder, binaries } = place;
  await removeHalfMade(folder);
  if ((await entries(folder)).length === 0) {
    log(`making a PostgreSQL data folder in ${folder}`);
    await makeFolder(place);
  }
  const version = (await readFile(path.join(folder, 'PG_VERSION'), 'utf8').catch(() => undefined))?.trim();
  if (version === undefined)
    throw new EmbeddedPostgresError(
      `${folder} is not empty and holds no PostgreSQL data (no file PG_VERSION). Move it away, or choose another DATA_DIR.`,
    );
  if (version !== majorVersion(binaries))
    throw new EmbeddedPostgresError(
      `${folder} was made by PostgreSQL ${version}; this release brings PostgreSQL ${majorVersion(binaries)}, which cannot read ` +
        'it. Start the older release once more and save the data with pg_dump, or move the folder away to begin anew.',
    );
  try {
    return (await readFile(path.join(folder, PASSWORD_FILE), 'utf8')).trim();
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `${path.join(folder, PASSWORD_FILE)}, the password of the embedded PostgreSQL, cannot be read. Put it back from a copy, or ` +
        'move the folder away to begin anew.',
      { cause },
    );
  }
}

/** Into a sibling first: whatever kills this midway, a folder under its final name is whole. */
async function makeFolder({ folder, binaries, user }: Place): Promise<void> {
  const fresh = `${folder}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  const passwordFile = `${fresh}.password`;
  const names = [fresh, passwordFile].map((file) => path.basename(file));
  for (const name of names) making.add(name);
  try {
    await mkdir(fresh, { mode: 0o700 });
    await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    if (user) for (const file of [fresh, passwordFile]) await chown(file, user.uid, user.gid);
    const initdb = program(binaries, 'initdb');
    // The built-in provider sorts by code point, alike on every machine and after every upgrade of its C library.
    const options = [
      `--pgdata=${fresh}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--data-checksums',
    ];
    await run(initdb, options, { ...user, cwd: path.dirname(initdb), env: serverEnvironment() });
    await rename(passwordFile, path.join(fresh, PASSWORD_FILE));
    await syncFolder(fresh);
    await rename(fresh, folder);
    await syncFolder(path.dirname(folder));
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true });
    await rm(passwordFile, { force: true });
    // Another start was quicker: its folder serves, and the lock decides who uses it.
    if (['ENOTEMPTY', 'EEXIST'].includes((cause as NodeJS.ErrnoException).code ?? '')) return;
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    const output = `${stdout}${stderr}` || (cause as Error).message;
    throw new EmbeddedPostgresError(`PostgreSQL's initdb failed on ${folder}:`, { output, cause });
  } finally {
    for (const name of names) making.delete(name);
  }
}

/** Removes what a start that was killed during initdb has left. The name says which process it was. */
async function removeHalfMade(folder: string): Promise<void> {
  const prefix = `${path.basename(folder)}.new-`;
  for (const name of await entries(path.dirname(folder))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length).split(/[-.]/, 1)[0]);
    if (pid === process.pid ? making.has(name) : processExists(pid)) continue;
    await rm(path.join(path.dirname(folder), name), { recursive: true, force: true });
  }
}

async function entries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A rename is on the disk when its folder is. Windows can neither open a folder nor needs to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
