import { mkdir, realpath, rename } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findBinaries } from './embeddedBinaries.ts';
import { EmbeddedPostgresError } from './embeddedErrors.ts';
import { openFolder, SUPERUSER } from './embeddedFolder.ts';
import { awaitFree } from './embeddedLock.ts';
import { type ServerProcess, startProcess } from './embeddedProcess.ts';
import { writeSettings } from './embeddedSettings.ts';
import { choosePlace, type Place } from './embeddedUser.ts';

export interface EmbeddedOptions {
  /** Holds the data (`postgres`) and the server's log (`postgres.log`); made when missing. */
  dataDir: string;
  log?: (message: string) => void;
  /** Returns a port on 127.0.0.1 that is free at the moment; asked again when it was taken meanwhile. */
  choosePort?: () => Promise<number>;
}

export interface EmbeddedPostgres {
  /** Superuser on 127.0.0.1 with password, for `pg`, psql and every other client. */
  url: string;
  port: number;
  /** Process id of the server. */
  pid: number;
  /** Resolves when the server ends without having been asked to; else never. */
  exited: Promise<EmbeddedPostgresError>;
  /** Fast shutdown: open transactions roll back. Resolves when the process has gone. May be called again. */
  stop(): Promise<void>;
}

const PORT_ATTEMPTS = 10;
/** Backends of a server that was killed end soon after it; until then they hold its shared memory. */
const ORPHANS_MS = 15_000;
const ORPHANS_POLL_MS = 200;

/**
 * Starts a real PostgreSQL from the programs that npm installed, on data that stays in `dataDir`.
 *
 * Works as any user, also root. Throws DataDirInUseError when another server owns the folder, EmbeddedPostgresError otherwise.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const place = await choosePlace(dataDir, await findBinaries(), log);
  const password = await openFolder(place, log);
  await awaitFree(place.folder);
  await writeSettings(place.folder, place.user);
  const logFile = path.join(dataDir, 'postgres.log');
  await rename(logFile, `${logFile}.1`).catch(() => undefined);

  const { server, port } = await startOnFreePort(place, logFile, options.choosePort ?? freePort);
  let asked = false;
  const exited = new Promise<EmbeddedPostgresError>((resolve) => {
    void server.ended.then((how) => {
      if (!asked) resolve(new EmbeddedPostgresError(`The embedded PostgreSQL has ended (${how}); see ${logFile}`));
    });
  });
  return {
    url: `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid: server.pid,
    exited,
    stop() {
      asked = true;
      return server.stop();
    },
  };
}

async function startOnFreePort(
  place: Place,
  logFile: string,
  choosePort: () => Promise<number>,
): Promise<{ server: ServerProcess; port: number }> {
  const startedAt = Date.now();
  let portsTaken = 0;
  for (;;) {
    const port = await choosePort();
    try {
      return { server: await startProcess(place, port, logFile), port };
    } catch (error) {
      const reason = error instanceof EmbeddedPostgresError ? error.message : '';
      if (reason.includes('could not bind') && ++portsTaken < PORT_ATTEMPTS) continue;
      if (reason.includes('pre-existing shared memory block') && Date.now() - startedAt < ORPHANS_MS) {
        await wait(ORPHANS_POLL_MS);
        continue;
      }
      // Two started at once: the other has the lock.
      if (reason.includes('postmaster.pid')) await awaitFree(place.folder);
      throw error;
    }
  }
}

/** The system's choice, given back at once. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
