import type { Figure } from '../figure.ts';
import type { FloodResult } from '../load/orders.ts';
import { median } from '../middleware/statistics.ts';
import { mostResidentBytes } from '../processor.ts';
import { takeTurn, warmUp } from '../turns.ts';
import type { World } from '../world.ts';

const TIMES_THE_PEAK = 3;
/** More connections are tried as long as each step brings so much. */
const GROWS_BY = 1.03;

interface Load {
  readonly id: string;
  readonly what: string;
  readonly lines: number;
  /** Tried for the peak, one after the other. */
  readonly connections: readonly number[];
  /** Of a flood, all of them open from its start. */
  readonly sockets: number;
}

const SINGLE: Load = {
  id: 'single',
  what: 'single events',
  lines: 1,
  connections: [32, 64, 128, 256, 512],
  sockets: 2_000,
};
/** Of some eighty kilobytes, twice as many as the service lets be under way at once: it has to refuse. */
const BATCHES: Load = {
  id: 'batch',
  what: 'batches of 100',
  lines: 100,
  connections: [4, 8, 16, 32, 64],
  sockets: 800,
};

interface Peak {
  readonly eventsPerS: number;
  readonly connections: number;
  readonly bytes: number;
}

/** What a service does when three times what it can do is due by the clock, against the most it does. */
export async function overload(world: World): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const load of world.quick ? [SINGLE] : [SINGLE, BATCHES]) {
    figures.push(...(await overloadBy(world, load)));
    await world.endCase();
  }
  return figures;
}

async function overloadBy(world: World, { id, what, lines, connections, sockets }: Load): Promise<Figure[]> {
  const database = await world.database('overload');
  const service = await world.service(database.url);
  const drain = await world.baseline('drain');
  await warmUp(world, service.port);
  const seconds = world.quick ? 1.5 : 3;
  const contestant = { ports: [service.port], pids: [service.pid] };
  let mostPerS = 20_000;
  const atPeak = async (count: number): Promise<Peak> => {
    const posts = Math.ceil((mostPerS * seconds) / lines);
    const turn = () => takeTurn(world, contestant, { posts, lines, seconds, connections: count });
    const { result, bytes } = await mostResidentBytes(service.pid, turn);
    mostPerS = 1.3 * result.eventsPerS;
    return { eventsPerS: result.eventsPerS, connections: count, bytes };
  };
  let peak = await atPeak(connections[0]!);
  for (const count of connections.slice(world.quick ? 3 : 1)) {
    world.say(`overload: ${what}, the peak, ${count} connections`);
    const next = await atPeak(count);
    if (next.eventsPerS < GROWS_BY * peak.eventsPerS) break;
    peak = next;
  }
  // Memory that a flood has taken is not given back at once: what the peak needs is known only before the first flood.
  const bytesAtPeak = Math.max(peak.bytes, (await atPeak(peak.connections)).bytes);

  const ratePerS = (TIMES_THE_PEAK * peak.eventsPerS) / lines;
  const flood = async (port: number, mostTaken: number) => {
    await world.prepare(Math.ceil(mostTaken) + sockets, lines);
    return world.flood({ port, connections: sockets, seconds, ratePerS });
  };
  const goodput: number[] = [];
  const memory: number[] = [];
  const peaks: number[] = [];
  const floods: FloodResult[] = [];
  for (let round = 0; round < world.rounds; round++) {
    world.say(`overload: ${what}, round ${round + 1} of ${world.rounds}`);
    peaks.push((await atPeak(peak.connections)).eventsPerS);
    // Half more than it ever took, besides those that all sockets hold.
    const { result, bytes } = await mostResidentBytes(service.pid, () =>
      flood(service.port, (ratePerS * (seconds + 1)) / 2),
    );
    floods.push(result);
    goodput.push((result.accepted * lines) / seconds / peaks.at(-1)!);
    memory.push(bytes / bytesAtPeak);
  }
  const drained = await flood(drain.port, ratePerS * (seconds + 1));
  const ofFloods = (read: (result: FloodResult) => number) => median(floods.map(read));
  const total = (counts: FloodResult['refused']) => Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    {
      id: `overload/${id}-goodput`,
      what: `${what}, accepted when three times the peak is due`,
      baseline: `peak, ${peak.connections} connections`,
      unit: '×',
      rounds: goodput,
      goal: { is: 'at least', value: 0.9 },
      raw: {
        'peak events/s': median(peaks),
        'posts due/s': ratePerS,
        'accepted/s': ofFloods(({ accepted }) => accepted / seconds),
        'refused/s': ofFloods(({ refused }) => total(refused) / seconds),
        'no socket free/s': ofFloods(({ unsent }) => unsent / seconds),
        'generator late p99 ms': ofFloods(({ lateP99Ms }) => lateP99Ms),
        'generator busy': ofFloods(({ busyShare }) => busyShare),
        'a draining server accepts/s': drained.accepted / seconds,
      },
    },
    {
      id: `overload/${id}-memory`,
      what: 'resident memory meanwhile',
      baseline: 'at the peak, before any flood',
      unit: '×',
      rounds: memory,
      goal: { is: 'at most', value: 1.5 },
      raw: { 'at the peak MB': bytesAtPeak / 1e6 },
    },
  ];
}
