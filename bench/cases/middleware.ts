import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Figure } from '../figure.ts';
import type { Row } from '../middleware/report.ts';
import type { World } from '../world.ts';

const SCRIPT = path.join(import.meta.dirname, '../middleware/main.ts');
/** Fewest that it takes. */
const ROUNDS = 5;

/**
 * The rows of the middleware's own bench, which has its app and its client in processes of their own. In place of each round's value
 * they have a median between the ends of its 95 % interval, since a turn is short and its value alone says little.
 */
export async function middleware(world: World): Promise<Figure[]> {
  world.say('middleware: an app with it and without');
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', SCRIPT, `--rounds=${ROUNDS}`, '--json'],
  ]);
  const { rows } = JSON.parse(stdout) as { readonly rows: readonly Row[] };
  const explains = rows.filter(({ goal }) => goal === undefined);
  const raw = Object.fromEntries(explains.map(({ what, unit, median }) => [`${what} ${unit}`, median]));
  return rows.flatMap(({ what, unit, goal, low, median, high }, at): Figure[] => {
    if (goal === undefined) return [];
    const first = rows.findIndex((row) => row.goal !== undefined) === at;
    return [
      {
        id: `middleware/${what.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`,
        what: `Node middleware: ${what}`,
        baseline: 'the app without it; 95 % interval',
        unit,
        rounds: [low, median, high],
        goal: { is: 'at most', value: goal },
        ...(first && { raw }),
      },
    ];
  });
}
