import { chmod, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import type { Figure } from '../figure.ts';
import { startServiceProcess } from '../serviceProcess.ts';
import type { World } from '../world.ts';

/** From the command to `ready`, with the embedded PostgreSQL: on a new folder, and on one that is there. */
export async function start(world: World): Promise<Figure[]> {
  const fresh: number[] = [];
  const known: number[] = [];
  for (let round = 0; round < world.rounds; round++) {
    const dataDir = await mkdtemp(path.join(world.folder, 'start-'));
    await chmod(dataDir, 0o755);
    for (const times of [fresh, known]) {
      const service = await startServiceProcess({ env: { DATA_DIR: dataDir } });
      times.push(service.startedInMs / 1e3);
      await service.stop();
    }
  }
  const figure = (id: string, what: string, rounds: number[], value: number): Figure => ({
    id,
    what,
    baseline: '',
    unit: 's',
    rounds,
    goal: { is: 'at most', value },
  });
  return [
    figure('start/known', 'cold start to ready, data folder there', known, 2),
    figure('start/fresh', 'cold start to ready, no data folder', fresh, 6),
  ];
}
