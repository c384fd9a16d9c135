/**
 * The half of the SDK that is loaded with the first request: from records to beacons. It shares no module with the other half,
 * so that neither waits for a third.
 */
import { onHidden } from './onHidden.ts';
import { createSender, type Sender } from './send.ts';
import type { StreamRecord } from './streamRecord.ts';
import { createStreamReport, type StreamReport } from './streamReport.ts';

/** Streams that run, and those whose last beacon waits. */
const running = new Set<StreamReport>();
let sender: Sender<StreamReport> | undefined;

/**
 * Sees to the beacons of a record: an interim one whenever the page is hidden, one at the end.
 *
 * @param onUnwanted called when the ingest wants no more
 */
export function report(record: StreamRecord, onUnwanted: () => void): void {
  if (!sender) {
    sender = createSender(onUnwanted);
    onHidden(hidden);
  }
  const report = createStreamReport(record, settle);
  if (!record.ending) running.add(report);
}

function settle(report: StreamReport): void {
  const { ending, options } = report.record;
  running.delete(report);
  if (ending !== 'unseen') sender!.add(report, options.endpoint!);
}

function hidden(leaving: boolean): void {
  for (const report of running) {
    report.hide();
    // Its connection ends with the page.
    if (leaving) report.record.end('abort');
    else sender!.add(report, report.record.options.endpoint!);
  }
  sender!.flush(true);
}

export function flush(): Promise<void> {
  return sender?.flush() ?? Promise.resolve();
}

export { markRendered } from './renderLag.ts';
