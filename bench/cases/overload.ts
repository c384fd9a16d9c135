import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { mostResidentBytes } from '../processor.ts';
import { takeTurn, warmUp } from '../turns.ts';
import type { World } from '../world.ts';

const SATURATING = 64;

/** Three times the connections that saturate, each posting again as soon as it is answered. */
export async function overload(world: World): Promise<Figure[]> {
  const database = await world.database('overload');
  const service = await world.service(database.url);
  await warmUp(world, service.port);
  const contestant = { ports: [service.port], pids: [service.pid] };
  const options = { posts: world.quick ? 16_000 : 40_000, lines: 1, seconds: world.quick ? 1.5 : 4 };
  const measure = (connections: number) =>
    mostResidentBytes(service.pid, () => takeTurn(world, contestant, { ...options, connections }));
  const goodput: number[] = [];
  const memory: number[] = [];
  const megabytes: number[] = [];
  await measure(SATURATING);
  for (let round = 0; round < world.rounds; round++) {
    const peak = await measure(SATURATING);
    const flooded = await measure(3 * SATURATING);
    goodput.push(flooded.result.eventsPerS / peak.result.eventsPerS);
    memory.push(...ratios([flooded.bytes], [peak.bytes]));
    megabytes.push(flooded.bytes / 1e6);
  }
  return [
    {
      id: 'overload/goodput',
      what: 'goodput at three times the saturating load',
      baseline: 'peak goodput',
      unit: '×',
      rounds: goodput,
      goal: { is: 'at least', value: 0.9 },
    },
    {
      id: 'overload/memory',
      what: 'resident memory meanwhile',
      baseline: 'at the peak',
      unit: '×',
      rounds: memory,
      goal: { is: 'at most', value: 1.5 },
      raw: { 'resident MB': median(megabytes) },
    },
  ];
}
