import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../postgres/serviceWait.ts';
import type { Ending } from './database.ts';
import type { FaultName } from './faultNames.ts';
import type { PlannedFault } from './schedule.ts';
import type { World } from './world.ts';

/** Resolves when it is over and mended. */
type Fault = (world: World, planned: PlannedFault) => Promise<void>;

const DRAIN_PATIENCE_MS = 120_000;
/** How soon after a full disk has room again the service must have found out. */
const ROOM_NOTICED_MS = 3_000;
/** Hours by which the services' clock may jump, to either side; past midnight among them. */
const CLOCK_JUMPS = ['+90s', '-90s', '+59m', '-59m', '+5h', '-5h', '+26h', '-26h'];

/** PostgreSQL ends, stays away, and is started again. */
function ends(how: Ending): Fault {
  return (world, { forMs }) =>
    world.withoutDatabase(async () => {
      await world.database.end(how);
      await wait(forMs);
      await world.database.start();
    });
}

/** Both replicas' ways to PostgreSQL, or one's, or the other's. */
function waysOf(world: World, { draw, replica }: PlannedFault) {
  return draw < 0.5 ? world.replicas.map(({ back }) => back) : [world.replicas[replica]!.back];
}

export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  /** kill -9; the supervisor starts it again. */
  async 'kill-ingest'(world, { replica }) {
    await world.replicas[replica]!.scrape();
    world.replicas[replica]!.signal('SIGKILL');
  },

  /** The process stands still, as in a suspended machine, and goes on. */
  async 'pause-ingest'(world, { replica, forMs }) {
    const paused = world.replicas[replica]!;
    paused.signal('SIGSTOP');
    await wait(forMs);
    paused.signal('SIGCONT');
  },

  /** SIGTERM: all is flushed, the exit code is 0; a while later a new one comes. */
  async 'replica-leaves'(world, { replica, forMs }) {
    await world.replicas[replica]!.leave();
    await wait(forMs);
    await world.replicas[replica]!.return();
  },

  /** All connections of clients are reset, some of them in the middle of an answer. */
  async 'client-cut'(world, { replica }) {
    world.replicas[replica]!.front.cut();
  },

  /** Nothing passes between clients and the process, and nobody is told. */
  async 'client-half-open'(world, { replica, forMs }) {
    const { front } = world.replicas[replica]!;
    await front.set('hang');
    await wait(forMs);
    await front.set('open');
  },

  /** The wall clock of all services jumps, and jumps back; PostgreSQL's stays. */
  async 'clock-jump'(world, { draw, forMs }) {
    await world.setClock(CLOCK_JUMPS[Math.floor(draw * CLOCK_JUMPS.length)]!);
    await wait(forMs);
    await world.setClock('+0');
  },

  'stop-postgres-fast': ends('fast'),
  'stop-postgres-immediate': ends('immediate'),
  'kill-postgres': ends('kill'),

  /** `pg_terminate_backend` of one connection, or of all. */
  async 'terminate-backends'(world, { draw }) {
    const pids = await world.database.backends();
    const chosen = draw < 0.5 ? pids : [pids[Math.floor(draw * 2 * pids.length) % pids.length]!];
    await world.database.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [chosen]);
  },

  /** One backend of PostgreSQL stands still, with whatever locks it holds. */
  async 'pause-backend'(world, { draw, forMs }) {
    const pids = await world.database.backends();
    const pid = pids[Math.floor(draw * pids.length)];
    if (pid === undefined) return;
    process.kill(pid, 'SIGSTOP');
    await wait(forMs);
    process.kill(pid, 'SIGCONT');
  },

  async 'database-cut'(world, planned) {
    for (const way of waysOf(world, planned)) way.cut();
  },

  async 'database-refused'(world, planned) {
    await world.withoutDatabase(async () => {
      for (const way of waysOf(world, planned)) await way.set('refuse');
      await wait(planned.forMs);
      for (const way of waysOf(world, planned)) await way.set('open');
    });
  },

  async 'database-half-open'(world, planned) {
    await world.withoutDatabase(async () => {
      for (const way of waysOf(world, planned)) await way.set('hang');
      await wait(planned.forMs);
      for (const way of waysOf(world, planned)) await way.set('open');
    });
  },

  /** A transaction commits, and its writer never hears of it. */
  async 'lose-commit'(world, { replica, forMs }) {
    await Promise.race([world.replicas[replica]!.back.loseNextCommit(), wait(forMs, undefined, { ref: false })]);
  },

  /** PostgreSQL is away and the disk that holds the spools fills up; then there is room again, and later PostgreSQL. */
  async 'full-disk'(world, { forMs }) {
    await world.withoutDatabase(async () => {
      for (const { back } of world.replicas) await back.set('refuse');
      await wait(forMs / 4);
      await world.disk.fill();
      await wait(forMs / 2);
      await world.disk.free(ROOM_NOTICED_MS);
      await wait(forMs / 4);
      for (const { back } of world.replicas) await back.set('open');
    });
  },

  /** A minute under load; then all must be in the table within another. */
  async 'long-outage'(world, { forMs }) {
    await world.withoutDatabase(async () => {
      await world.database.end('fast');
      await wait(forMs);
      await world.database.start();
    });
    const backMs = performance.now();
    await until('the spools to be empty', () => world.spoolsAreEmpty(), DRAIN_PATIENCE_MS);
    world.drainedAfterMs = performance.now() - backMs;
  },
};
