import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { startEmbedded } from '../store/embedded.ts';
import { findBinaries } from '../store/embeddedBinaries.ts';
import { DataDirInUseError } from '../store/embeddedErrors.ts';
import { openFolder, SUPERUSER } from '../store/embeddedFolder.ts';
import { readLockFile } from '../store/embeddedLock.ts';

export interface OpenStore {
  readonly url: string;
  /** Stops what was started for this. */
  close(): Promise<void>;
}

/**
 * The database of a service that may run at this moment: the configured one, or the embedded one, which is started where no service
 * runs, and else used as it is.
 */
export async function openStore(config: Config, log: Log): Promise<OpenStore> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, close: async () => {} };
  try {
    const { url, stop } = await startEmbedded({ dataDir: config.dataDir, log: (message) => log.info(message) });
    return { url, close: stop };
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    const lock = await readLockFile(error.folder);
    if (lock?.status !== 'ready') throw error;
    const password = await openFolder(
      { folder: error.folder, binaries: await findBinaries(), user: undefined },
      log.info,
    );
    return { url: `postgres://${SUPERUSER}:${password}@127.0.0.1:${lock.port}/postgres`, close: async () => {} };
  }
}
