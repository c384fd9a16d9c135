import type { Beacon } from '../contract/beacon.ts';
import { buildBeacon } from './payload.ts';
import { createRenderLag } from './renderLag.ts';
import { type ConnectionPart, connectionParts } from './resourceTiming.ts';
import type { Reporter } from './send.ts';
import type { StreamRecord } from './streamRecord.ts';
import { drawTimeline } from './timeline.ts';

export interface StreamReport extends Reporter {
  readonly record: StreamRecord;
  /** The page is hidden. */
  hide(): void;
}

/** Wall and monotonic clock differ by more than this only when the machine slept (or its clock was set). */
const SLEPT_MS = 5_000;

/** Follows one record, from where it stands, and says what is new. */
export function createStreamReport(record: StreamRecord, onEnd: (report: StreamReport) => void): StreamReport {
  const { options, startedAt, arrivals } = record;
  const lag = createRenderLag(startedAt, options.render !== 'manual');
  let seq = 0;
  let hidden = globalThis.document?.hidden ?? false;
  let told = '';
  let suspended = false;
  let drawn = false;
  let connection: ConnectionPart[] | undefined;

  const checkSleep = (): void => {
    suspended ||= Math.abs(Date.now() - performance.now() - record.clockDifference) > SLEPT_MS;
  };
  const news = (): string => [arrivals.length, hidden, record.ending].join();
  const show = (beacon: Beacon): void => {
    options.onBeacon?.(beacon);
    if (!record.ending || drawn) return;
    drawn = true;
    drawTimeline(record, connection, beacon.render?.first_ms);
  };

  const report: StreamReport = {
    record,
    get changed() {
      return told !== news();
    },
    set changed(changed) {
      told = changed ? '' : news();
    },
    build() {
      // A sleep after the end is none of the stream's.
      if (!record.ending) checkSleep();
      try {
        if (record.ending) connection ??= connectionParts(record.url, startedAt);
      } catch {
        // An address that is none, or a browser without such a list.
      }
      const beacon = buildBeacon(record, { seq: ++seq, suspended, hidden, render: lag.facts(), connection });
      try {
        show(beacon);
      } catch {
        // The app's function, or a browser without such measures.
      }
      // What is painted after the last beacon is told to nobody.
      if (record.ending) lag.forget();
      return beacon;
    },
    hide() {
      hidden = true;
      lag.forget();
    },
  };
  const end = (): void => {
    checkSleep();
    onEnd(report);
  };
  record.onToken = lag.arrived;
  if (record.ending) end();
  else record.onEnd = end;
  return report;
}
