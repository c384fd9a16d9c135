import type pg from 'pg';
import type { RequestRow } from '../pipeline/row.ts';
import { SELECT_ROW } from '../store/columns.ts';
import { inTransaction } from '../store/connection.ts';

const PAGE_ROWS = 2_000;
/** A request's day is that of its arrival, which is at most a day after its start. */
const DAY_MS = 86_400_000;

/**
 * The settled requests that began since then, in pages. What has not settled is left to the service, which exports it when it does.
 * All pages are of one moment: they are read in one transaction, which stays open while they are used.
 *
 * @param use gets rows without their long lists, which no span has; says whether to go on
 * @param sinceMs epoch milliseconds
 */
export async function forEachPageSince(
  pool: pg.Pool,
  sinceMs: number,
  use: (rows: readonly RequestRow[]) => Promise<boolean>,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // A cursor's query takes no parameters.
    await client.query(
      `DECLARE settled NO SCROLL CURSOR FOR SELECT ${SELECT_ROW} FROM requests r
        WHERE r.day >= '${isoOf(sinceMs - DAY_MS).slice(0, 10)}' AND r.started_at >= '${isoOf(sinceMs)}' AND r.settled`,
    );
    for (;;) {
      const { rows } = await client.query<RequestRow>(`FETCH ${PAGE_ROWS} FROM settled`);
      if (rows.length === 0 || !(await use(rows))) return;
    }
  });
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
