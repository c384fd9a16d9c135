import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { backfill } from '../../demo/backfill/backfill.ts';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { migrate } from '../../migrations/migrate.ts';
import { multiply } from './multiply.ts';

const HOUR_MS = 3_600_000;
const SEED = 20_261_201;
/** Requests that are drawn one by one; of more than these, each is taken several times. */
const MOST_DRAWN = 1_000_000;

export interface History {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Bounds of what was written. */
  readonly from: Date;
  readonly to: Date;
  stop(): Promise<void>;
}

export interface HistoryOptions {
  /** About so many requests, over all days. */
  readonly rows: number;
  readonly days: number;
  readonly say: (step: string) => void;
}

/**
 * A PostgreSQL of its own with a synthetic history in it, in a folder that stays: making one takes minutes, and each run asks the same of it.
 * One whose making was broken off is completed.
 */
export async function openHistory({ rows, days, say }: HistoryOptions): Promise<History> {
  const dataDir = path.resolve('.data/bench', `reads-${days}d-${rows}`);
  await mkdir(dataDir, { recursive: true });
  const postgres = await startEmbedded({ dataDir });
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4, options: '-c timezone=UTC' });
  pool.on('error', () => {});
  const stop = async (): Promise<void> => {
    await pool.end();
    await postgres.stop();
  };
  try {
    const complete = path.join(dataDir, 'complete');
    // One from before the newest migration is brought up to date as well.
    await migrate(postgres.url);
    if (!(await exists(complete))) {
      const hours = days * 24;
      const times = Math.max(1, Math.floor(rows / MOST_DRAWN));
      const drawn = Math.round(rows / times);
      const { rows: begun } = await pool.query(`SELECT to_regclass('multiplied') IS NOT NULL AS begun`);
      // What is being multiplied is drawn: drawing more would begin with hours that are there by now.
      if (!begun[0].begun)
        await backfill({
          pool,
          hours,
          rowsPerHour: Math.round(drawn / hours),
          seed: SEED,
          onProgress: (done) =>
            say(`writing the history: ${done.rows.toLocaleString('en')} of ${drawn.toLocaleString('en')} requests`),
        });
      if (times > 1) await multiply(pool, times, say);
      await pool.query('VACUUM (ANALYZE)');
      await writeFile(complete, new Date().toISOString());
    }
    const { rows: bounds } = await pool.query<{ from: Date; to: Date }>(
      'SELECT min(started_at) AS from, max(started_at) AS to FROM requests',
    );
    const { from, to } = bounds[0]!;
    // Panels ask for a round number of days up to the end of what there is.
    return {
      url: postgres.url,
      pool,
      from: new Date(Math.max(from.getTime(), to.getTime() - days * 24 * HOUR_MS)),
      to,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
