import type pg from 'pg';
import { ROLLUP_DAYS_KEPT_DAYS, ROLLUP_HOURS_KEPT_DAYS } from '../../contract/rollups.ts';
import type { Log } from '../log.ts';
import { dropExpiredPicks, pickNextHour } from './requestPicks.ts';
import { closeRollupDays, dropExpiredRollups, foldRollups } from './rollupFold.ts';

/**
 * Readers add up what is not folded themselves, so this is not about being up to date. A fold rewrites the current hour whatever it
 * adds: folding rarely costs writers less, folding often readers.
 */
const EVERY_MS = 20_000;
/** The longer a fold takes, the longer the next one waits: 5 % of the time at most. */
const REST_PER_WORK = 19;
const MAX_REST_MS = 60_000;
/** Half a minute of full load, in a transaction of a second or two. */
const DELTAS_AT_ONCE = 1_000;
const TIDY_EVERY_MS = 3_600_000;
const MAX_HOURS_AT_ONCE = 24;

export interface RollupFolding {
  /** Folds all that is there. @returns how many deltas were folded by this process */
  runOnce(): Promise<number>;
  start(): void;
  /** Begins nothing more; what is under way is one transaction, which the pool's end waits for. */
  stop(): void;
}

/** Keeps the rollups folded, picks the requests of closed hours, makes days of old hours, and keeps both as long as they are wanted: at least as long as the requests. */
export function createRollupFolding(pool: pg.Pool, retentionDays: number, log: Log, everyMs = EVERY_MS): RollupFolding {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let nextTidyAt = 0;

  const folding: RollupFolding = {
    async runOnce() {
      let total = 0;
      for (;;) {
        const folded = await foldRollups(pool, DELTAS_AT_ONCE);
        total += folded;
        // Fewer than asked for were all there were. What has come since waits: under load there is always some, and each fold rewrites the hour.
        if (folded < DELTAS_AT_ONCE || stopped) return total;
      }
    },
    start() {
      schedule(everyMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };

  const schedule = (inMs: number): void => {
    timer = setTimeout(() => void work(), inMs);
    timer.unref();
  };
  const work = async (): Promise<void> => {
    const began = performance.now();
    try {
      await folding.runOnce();
      // A service that was away for long catches up a bit each time, and folds in between.
      for (let hours = 0; hours < MAX_HOURS_AT_ONCE && !stopped; hours++) if (!(await pickNextHour(pool))) break;
      if (Date.now() >= nextTidyAt) {
        await closeRollupDays(pool);
        await dropExpiredRollups(
          pool,
          Math.max(ROLLUP_HOURS_KEPT_DAYS, retentionDays),
          Math.max(ROLLUP_DAYS_KEPT_DAYS, retentionDays),
        );
        await dropExpiredPicks(pool, retentionDays);
        nextTidyAt = Date.now() + TIDY_EVERY_MS;
      }
    } catch (error) {
      if (!stopped) log.warn('folding the rollups failed; it is tried again', { error });
    }
    const tookMs = performance.now() - began;
    if (!stopped) schedule(Math.min(MAX_REST_MS, Math.max(everyMs, tookMs * REST_PER_WORK)));
  };
  return folding;
}
