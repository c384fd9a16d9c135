import type { Figure } from '../figure.ts';
import { percentileError, recountDifference, rollupBytes } from './exactness.ts';
import { type HistoryOptions, openHistory } from './history.ts';
import { hourlyFigures } from './hourly.ts';
import { panelFigures } from './panels.ts';

/** All figures of what dashboards read, over a history that is made when it is not there. */
export async function readFigures({
  rounds,
  ...options
}: HistoryOptions & { readonly rounds: number }): Promise<Figure[]> {
  const history = await openHistory(options);
  try {
    return [
      ...(await hourlyFigures(history, rounds, options.say)),
      ...(await panelFigures(history, rounds, options.say)),
      await percentileError(history),
      await recountDifference(history),
      await rollupBytes(history),
    ];
  } finally {
    await history.stop();
  }
}
