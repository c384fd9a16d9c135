import type pg from 'pg';
import type { Log } from '../log.ts';
import { dropExpired, ensurePartitions } from './partitions.ts';

/** Hourly is often enough to be two days ahead, and to let go of a day soon after it has expired. */
const EVERY_MS = 3_600_000;

export interface Retention {
  /** One round: make the coming days, drop the expired ones. */
  runOnce(): Promise<void>;
  start(): void;
  stop(): void;
}

/** Keeps the partitions of `requests`: those that are coming, and none that is past `retentionDays`. */
export function createRetention(pool: pg.Pool, retentionDays: number, log: Log): Retention {
  let timer: NodeJS.Timeout | undefined;
  const retention: Retention = {
    async runOnce() {
      await ensurePartitions(pool);
      const { dropped, busy } = await dropExpired(pool, retentionDays);
      if (dropped.length > 0) log.info('dropped expired days', { partitions: dropped, retention_days: retentionDays });
      if (busy.length > 0) log.warn('an expired day is still being read; it is dropped later', { partitions: busy });
    },
    start() {
      timer = setInterval(() => {
        retention
          .runOnce()
          .catch((error) => log.warn('keeping the partitions failed; it is tried again in an hour', { error }));
      }, EVERY_MS);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
    },
  };
  return retention;
}
