import type { Figure } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { readFigures } from '../reads/readFigures.ts';
import type { World } from '../world.ts';

const DAYS = 7;
const PANEL = 'reads/panel/';

/** The rows of the bench of reads at the largest size, and how the panels slow down as requests are more. Histories are kept between runs. */
export async function reads(world: World): Promise<Figure[]> {
  const sizes = world.quick ? [100_000] : [100_000, 300_000, 1_000_000, ...(world.large ? [10_000_000] : [])];
  const bySize: Figure[] = [];
  let largest: Figure[] = [];
  for (const rows of sizes) {
    const text = `${rows.toLocaleString('en')} requests`;
    const say = (step: string) => world.say(`reads: ${text}: ${step}`);
    largest = await readFigures({ rows, days: DAYS, rounds: world.quick ? 1 : 3, say });
    bySize.push(panelsAt(rows, text, largest));
  }
  return [...bySize, ...largest];
}

function panelsAt(rows: number, text: string, figures: readonly Figure[]): Figure {
  const panels = figures.filter(({ id }) => id.startsWith(PANEL));
  const medians = panels.map(({ rounds }) => median(rounds));
  const reached = panels.filter(({ goal }, at) => medians[at]! <= goal!.value);
  return {
    id: `reads/rows-${rows}`,
    what: `statements of panels within ${panels[0]!.goal!.value} ms, ${text} in ${DAYS} days`,
    baseline: '',
    unit: '%',
    rounds: [(reached.length / panels.length) * 100],
    goal: { is: 'at least', value: 100 },
    raw: { rows, 'median ms': median(medians), 'slowest ms': Math.max(...medians) },
  };
}
