import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { INGEST_HEALTH } from './config.ts';
import { page } from './page.ts';
import {
  anomalies,
  commit,
  coverage,
  coverageCurve,
  events,
  lag,
  memory,
  overflow,
  rejected,
  retries,
  spool,
  storeUp,
  up,
  waiting,
} from './panels/ingestHealth.ts';

/** Whether the measuring itself can be trusted. */
export function ingestHealth(): Dashboard {
  const { panelIds: ids } = INGEST_HEALTH;
  return page({ ...INGEST_HEALTH, description: 'Whether events arrive, are taken, stored and joined; if not, why.' }, [
    [
      [up(), ids.up, 0, 0, 6, 5],
      [storeUp(), ids.storeUp, 6, 0, 6, 5],
      [spool(), ids.spool, 12, 0, 6, 5],
      [coverage(), ids.coverage, 18, 0, 6, 5],
      [events(), ids.events, 0, 5, 12, 8],
      [rejected(), ids.rejected, 12, 5, 12, 8],
      [commit(), ids.commit, 0, 13, 8, 8],
      [waiting(), ids.waiting, 8, 13, 8, 8],
      [retries(), ids.retries, 16, 13, 8, 8],
      [coverageCurve(), ids.coverageCurve, 0, 21, 8, 8],
      [lag(), ids.lag, 8, 21, 8, 8],
      [memory(), ids.memory, 16, 21, 8, 8],
      [overflow(), ids.overflow, 0, 29, 12, 8],
      [anomalies(), ids.anomalies, 12, 29, 12, 8],
    ],
  ]);
}
