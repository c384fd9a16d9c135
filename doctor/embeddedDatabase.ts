import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { PASSWORD_FILE, SUPERUSER } from '../ingest/store/embeddedFolder.ts';
import { readLockFile } from '../ingest/store/embeddedLock.ts';

/** The address of the embedded PostgreSQL that runs on this data folder; null where none does, or it is not ours to read. */
export async function embeddedDatabaseUrl(dataDir: string): Promise<string | null> {
  const folder = path.join(dataDir, 'postgres');
  const lock = await readLockFile(folder);
  const password = await readFile(path.join(folder, PASSWORD_FILE), 'utf8').catch(() => null);
  if (lock?.status !== 'ready' || password === null) return null;
  return `postgres://${SUPERUSER}:${encodeURIComponent(password.trim())}@127.0.0.1:${lock.port}/postgres`;
}
