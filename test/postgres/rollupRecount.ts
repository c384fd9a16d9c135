import { expect } from 'vitest';
import { recountRollups } from './rollupLines.ts';
import { query } from './service.ts';

/**
 * Rollups by hour and by day are exactly what the rows come to; so is the recount in SQL.
 *
 * @returns how many counts there are by hour, for a test to see that there was something to compare
 */
export async function expectExactRollups(databaseUrl: string): Promise<number> {
  const found = await recountRollups((statement) => query(databaseUrl, statement));
  for (const { told, recounted } of found) expect(told).toEqual(recounted);
  return found[0]!.recounted.length;
}

/** The whole content of the folded tables, and how much is not folded. */
export async function foldedState(databaseUrl: string): Promise<{ hours: unknown[]; days: unknown[]; deltas: number }> {
  const [left] = await query<{ n: number }>(databaseUrl, 'SELECT count(*)::int AS n FROM rollup_deltas');
  return {
    hours: await query(databaseUrl, 'SELECT * FROM rollup_hours ORDER BY hour, cell'),
    days: await query(databaseUrl, 'SELECT * FROM rollup_days ORDER BY day, cell'),
    deltas: left!.n,
  };
}
