import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { movableClock, moveClock } from './clock.ts';
import { type ChaosDatabase, openDatabase } from './database.ts';
import { type Disk, openDisk, SMALL_SPOOL_BYTES } from './disk.ts';
import { Replica } from './replica.ts';

export const TOKEN = 'write-token-of-the-chaos-run';
const REPLICAS = ['a', 'b'];
/** PostgreSQL that has just come back needs a moment until connections are there again. */
const DATABASE_NOTICED_MS = 10_000;

export interface WorldOptions {
  readonly spool: boolean;
  readonly movesClock: boolean;
  /** All replicas on one folder (a shared volume), or each on its own. */
  readonly sharedFolder: boolean;
  readonly onViolation: (what: string) => void;
}

/** Everything that a run breaks: one PostgreSQL, the disk of the spools, and the replicas with a proxy on either side. */
export class World {
  readonly folder: string;
  readonly database: ChaosDatabase;
  readonly disk: Disk;
  readonly #clockFile: string;
  #replicas: Replica[] = [];
  #databaseAway = 0;
  #databaseBackAtMs = 0;
  /** How long after the long outage all of it was in the table; null where there was none. */
  drainedAfterMs: number | null = null;

  private constructor(folder: string, database: ChaosDatabase, disk: Disk, clockFile: string) {
    this.folder = folder;
    this.database = database;
    this.disk = disk;
    this.#clockFile = clockFile;
  }

  static async open(options: WorldOptions): Promise<World> {
    const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-chaos-'));
    const clockFile = path.join(folder, 'clock');
    const clock = options.movesClock ? await movableClock(clockFile) : {};
    const database = await openDatabase(path.join(folder, 'database'));
    const world = new World(folder, database, await openDisk(path.join(folder, 'spools')), clockFile);
    for (const name of REPLICAS) {
      const dataDir = path.join(world.disk.folder, options.sharedFolder ? 'shared' : name);
      const replica = await Replica.open({
        name,
        databaseUrl: database.url,
        port: await freePort(),
        adminPort: await freePort(),
        env: {
          ...clock,
          DATA_DIR: dataDir,
          INGEST_TOKEN: TOKEN,
          BEACON_RATE: '0',
          JOIN_WAIT: '20',
          ...(options.spool ? {} : { SPOOL_MAX_BYTES: '0' }),
          ...(options.spool && world.disk.kind === 'small spool' ? { SPOOL_MAX_BYTES: String(SMALL_SPOOL_BYTES) } : {}),
        },
        databaseIsThere: () => world.databaseIsThere && !world.disk.isFull,
        onViolation: (what) => options.onViolation(`replica ${name}: ${what}`),
      });
      world.#replicas.push(replica);
    }
    return world;
  }

  get replicas(): readonly Replica[] {
    return this.#replicas;
  }

  /** And has been for long enough that everybody knows. */
  get databaseIsThere(): boolean {
    return this.#databaseAway === 0 && performance.now() - this.#databaseBackAtMs > DATABASE_NOTICED_MS;
  }

  async withoutDatabase(work: () => Promise<void>): Promise<void> {
    this.#databaseAway += 1;
    try {
      await work();
    } finally {
      this.#databaseAway -= 1;
      this.#databaseBackAtMs = performance.now();
    }
  }

  setClock(by: string): Promise<void> {
    return moveClock(this.#clockFile, by);
  }

  async spoolsAreEmpty(): Promise<boolean> {
    await Promise.all(this.#replicas.map((replica) => replica.scrape()));
    return this.#replicas.every(({ spoolBytes }) => spoolBytes === 0);
  }

  /** @param keep leaves the data for somebody to look at */
  async close(keep: boolean): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()));
    this.#replicas = [];
    await this.database.close();
    await this.disk.remove();
    if (!keep) await rm(this.folder, { recursive: true, force: true });
  }
}

/** Below the range from which the system gives ports to outgoing connections: one that is free now stays free between two lives. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
