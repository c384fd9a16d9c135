import { randomBytes } from 'node:crypto';
import { lchown, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ServerUser } from './embeddedUser.ts';

/**
 * Written anew at each start, so that a release's settings reach folders that older ones made. `ALTER SYSTEM` overrides them.
 *
 * A commit is durable (fsync, synchronous_commit): a 202 answer rests on it. Whole pages are compressed in the log (pglz: the build
 * has no lz4). JIT costs more than it saves on statements of milliseconds. No Unix socket: it saves about 4 µs a statement where a
 * flush takes milliseconds, and its path may not be longer than 107 bytes, which that of a deep DATA_DIR is.
 */
const SETTINGS = `# Written by Firsttoken at each start. Use ALTER SYSTEM to override.
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 50
password_encryption = 'scram-sha-256'
shared_buffers = '256MB'
max_wal_size = '2GB'
fsync = on
synchronous_commit = on
wal_compression = on
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
default_text_search_config = 'pg_catalog.english'
log_checkpoints = off
`;

/**
 * A random password and not trust: on a shared machine every user, and every page of a browser that can be made to speak to a local
 * port, reaches 127.0.0.1. Only who can read the data folder knows the password.
 */
const ACCESS = `# Written by Firsttoken at each start.
host all all 127.0.0.1/32 scram-sha-256
`;

export async function writeSettings(folder: string, user: ServerUser | undefined): Promise<void> {
  await replaceFile(path.join(folder, 'postgresql.conf'), SETTINGS, user);
  await replaceFile(path.join(folder, 'pg_hba.conf'), ACCESS, user);
}

/** `wx` and rename never follow a link: root writes here into a folder that an unprivileged user owns. */
async function replaceFile(file: string, text: string, user: ServerUser | undefined): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(fresh, text, { flag: 'wx', mode: 0o600 });
  if (user) await lchown(fresh, user.uid, user.gid);
  await rename(fresh, file);
}
