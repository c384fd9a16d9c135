import { copyRowsPerS } from '../copyRows.ts';
import { type Figure, ratios } from '../figure.ts';
import { rawTurns, takeTurn, takeTurns, warmUp } from '../turns.ts';
import type { World } from '../world.ts';

/** A turn ends with its time, or when all posts are sent. */
export function batchTurn(world: World, seconds: number) {
  return { posts: world.quick ? 200 : 600, lines: 100, connections: 8, seconds: world.quick ? 1.5 : seconds } as const;
}

/** NDJSON of 100 lines, committed, against a server that keeps nothing, and against a COPY of the same rows. */
export async function batch(world: World): Promise<Figure[]> {
  const database = await world.database('batch');
  const service = await world.service(database.url);
  await warmUp(world, service.port);
  const parse = await world.baseline('parse');
  const options = batchTurn(world, 3);
  const contestants = {
    service: { ports: [service.port], pids: [service.pid], during: () => database.pool.query('CHECKPOINT') },
    parse: { ports: [parse.port], pids: [parse.pid] },
  };
  const turns = await takeTurns(world, contestants, options);
  const joined: number[] = [];
  const copied: number[] = [];
  for (let round = 0; round < world.rounds; round++) {
    joined.push((await takeTurn(world, contestants.service, options)).eventsPerS / 2);
    copied.push(await copyRowsPerS(database.pool));
  }
  return [
    {
      id: 'batch/parse',
      what: 'NDJSON × 100, committed',
      baseline: 'a server that parses and validates only',
      unit: '×',
      rounds: ratios(
        turns.service.map((turn) => turn.eventsPerS),
        turns.parse.map((turn) => turn.eventsPerS),
      ),
      goal: { is: 'at least', value: 0.3, aim: 0.6 },
      raw: rawTurns(turns),
    },
    {
      id: 'batch/copy',
      what: 'joined requests a second',
      baseline: 'one COPY of the final rows',
      unit: '×',
      rounds: ratios(joined, copied),
      goal: { is: 'at least', value: 0.22, aim: 0.35 },
      raw: { 'joined requests/s': Math.max(...joined), 'copied rows/s': Math.max(...copied) },
    },
  ];
}
