import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { medianOf, takeTurn, takeTurns, warmUp } from '../turns.ts';
import type { World } from '../world.ts';

const SYNCS = 300;

/** As pg_test_fsync: one 8 kB block written again and again. @returns the median of write and fdatasync, milliseconds */
function fdatasyncMs(folder: string): number {
  const file = path.join(folder, 'fdatasync');
  const handle = openSync(file, 'w');
  const block = Buffer.alloc(8_192, 1);
  const timesMs: number[] = [];
  for (let at = 0; at < SYNCS; at++) {
    const beganMs = performance.now();
    writeSync(handle, block, 0, block.length, 0);
    fdatasyncSync(handle);
    timesMs.push(performance.now() - beganMs);
  }
  closeSync(handle);
  unlinkSync(file);
  return median(timesMs);
}

/** How long a lone event waits for its answer, and the slowest percent at half of the load that saturates. */
export async function latency(world: World): Promise<Figure[]> {
  const database = await world.database('latency');
  const service = await world.service(database.url);
  const drain = await world.baseline('drain');
  await warmUp(world, service.port);
  const contestants = {
    service: { ports: [service.port], pids: [service.pid] },
    drain: { ports: [drain.port], pids: [drain.pid] },
  };
  const alone: number[] = [];
  const syncs: number[] = [];
  for (let round = 0; round < world.rounds; round++) {
    syncs.push(fdatasyncMs(world.folder));
    const turn = { posts: 400, lines: 1, connections: 1, seconds: 10 };
    alone.push((await takeTurn(world, contestants.service, turn)).p50Ms);
  }
  const seconds = world.quick ? 2 : 5;
  const peaks = await takeTurns(
    world,
    { service: contestants.service },
    { posts: 8_000 * seconds, lines: 1, connections: 64, seconds: seconds / 2 },
    world.quick ? 1 : 3,
  );
  const ratePerS = medianOf(peaks.service, (turn) => turn.eventsPerS) / 2;
  const half = { posts: Math.ceil(ratePerS * seconds), lines: 1, connections: 64, seconds, ratePerS };
  const turns = await takeTurns(world, contestants, half);
  return [
    {
      id: 'latency/alone',
      what: 'p50 of a 202, one connection',
      baseline: 'fdatasync of 8 kB',
      unit: '×',
      rounds: ratios(alone, syncs),
      goal: { is: 'at most', value: 4 },
      raw: { 'p50 ms': median(alone), 'fdatasync ms': median(syncs) },
    },
    {
      id: 'latency/half',
      what: 'p99 at half of its saturation',
      baseline: 'node:http that drains, same rate',
      unit: '×',
      rounds: ratios(
        turns.service.map((turn) => turn.p99Ms),
        turns.drain.map((turn) => turn.p99Ms),
      ),
      goal: { is: 'at most', value: 3 },
      raw: {
        'rate/s': ratePerS,
        'p99 ms': medianOf(turns.service, (turn) => turn.p99Ms),
        'drain p99 ms': medianOf(turns.drain, (turn) => turn.p99Ms),
      },
    },
  ];
}
