import { gzipSync } from 'node:zlib';
import { buildEntries } from '../../browser/build.ts';
import { mainThreadCost } from '../../test/browser/mainThreadCost.ts';
import type { Figure } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import type { World } from '../world.ts';

/** What the browser SDK adds to a page: bytes of its main entry, and its share of the main thread at 100 tokens a second. */
export async function sdk(world: World): Promise<Figure[]> {
  const { outputFiles = [] } = await buildEntries({ write: false });
  const main = outputFiles.find(({ path }) => path.endsWith('/index.js'))!;
  const size: Figure = {
    id: 'sdk/gzip',
    what: 'browser SDK, main entry, gzip',
    baseline: '',
    unit: 'bytes',
    rounds: [gzipSync(main.contents, { level: 9 }).length],
    goal: { is: 'at most', value: 3_000 },
  };
  // A round takes ten seconds, and one alone says nothing.
  if (world.quick) return [size];
  const costs = await mainThreadCost(world.rounds, () => world.say('sdk: streams with it and without'));
  return [
    size,
    {
      id: 'sdk/main-thread',
      what: 'of the main thread, 100 tokens a second',
      baseline: 'the page without it',
      unit: '%',
      rounds: costs.map(({ plain, traced }) => traced - plain),
      goal: { is: 'at most', value: 1 },
      raw: {
        'without %': median(costs.map(({ plain }) => plain)),
        'with %': median(costs.map(({ traced }) => traced)),
      },
    },
  ];
}
