import { median } from './middleware/statistics.ts';
import { cpuUsOf } from './processor.ts';
import type { World } from './world.ts';

/** What one turn of one variant came to. */
export interface Turn {
  readonly eventsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time per event: of the server, and of PostgreSQL. */
  readonly serverUs: number;
  readonly postgresUs: number;
  readonly generatorBusy: number;
  readonly refused: number;
}

export interface Contestant {
  readonly ports: readonly number[];
  readonly pids: readonly number[];
  /** Before each of its turns. */
  readonly before?: () => Promise<unknown>;
  /** While a turn runs: a checkpoint, so that its cost is in the figure. */
  readonly during?: () => Promise<unknown>;
}

export interface TurnOptions {
  readonly posts: number;
  readonly lines: number;
  readonly connections: number;
  readonly seconds: number;
  readonly ratePerS?: number;
}

/** Makes a service's labels, rollup cells and compiled code, which a running one has. Batches do it fastest. */
export async function warmUp(world: World, port: number): Promise<void> {
  await world.prepare(world.quick ? 120 : 600, 100);
  await world.load({ ports: [port], connections: 8, seconds: 60 });
}

/** The variants take turns, in each round the other way round; a first round warms up and is not counted. */
export async function takeTurns<V extends string>(
  world: World,
  contestants: Readonly<Record<V, Contestant>>,
  options: TurnOptions,
  rounds = world.rounds,
): Promise<Record<V, Turn[]>> {
  const names = Object.keys(contestants) as V[];
  const turns = Object.fromEntries(names.map((name) => [name, [] as Turn[]])) as Record<V, Turn[]>;
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 ? names.toReversed() : names) {
      const turn = await takeTurn(world, contestants[name], round === 0 && world.quick ? shortened(options) : options);
      if (round > 0) turns[name].push(turn);
    }
  }
  return turns;
}

/** Services are warm by then; what a first turn still has to do is done in the first second. */
function shortened({ posts, seconds, ...rest }: TurnOptions): TurnOptions {
  return { ...rest, posts: Math.ceil(posts / 3), seconds: seconds / 3 };
}

export async function takeTurn(world: World, contestant: Contestant, options: TurnOptions): Promise<Turn> {
  const { posts, lines, connections, seconds, ratePerS } = options;
  const { ports, pids, before, during } = contestant;
  await world.prepare(posts, lines);
  await before?.();
  const cpu = async () => ({
    server: (await Promise.all(pids.map(cpuUsOf))).reduce((sum, each) => sum + each, 0),
    postgres: await cpuUsOf(world.postgresPid),
  });
  const then = await cpu();
  const alongside = during?.();
  const result = await world.load({ ports, connections, seconds, ...(ratePerS !== undefined && { ratePerS }) });
  await alongside;
  const now = await cpu();
  const events = Math.max(1, result.accepted * lines);
  return {
    eventsPerS: (result.accepted * lines) / result.elapsedS,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    serverUs: (now.server - then.server) / events,
    postgresUs: (now.postgres - then.postgres) / events,
    generatorBusy: result.busyShare,
    refused: result.posts - result.accepted,
  };
}

export function medianOf(turns: readonly Turn[], read: (turn: Turn) => number): number {
  return median(turns.map(read));
}

/** The medians of some variants, for the raw figures. */
export function rawTurns(turns: Readonly<Record<string, readonly Turn[]>>): Record<string, number> {
  const raw: Record<string, number> = {};
  for (const [name, each] of Object.entries(turns)) {
    raw[`${name} events/s`] = medianOf(each, (turn) => turn.eventsPerS);
    raw[`${name} server µs/event`] = medianOf(each, (turn) => turn.serverUs);
    raw[`${name} postgres µs/event`] = medianOf(each, (turn) => turn.postgresUs);
    raw[`${name} generator busy`] = medianOf(each, (turn) => turn.generatorBusy);
  }
  return raw;
}
