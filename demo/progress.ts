import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { DemoOptions } from './arguments.ts';
import type { BeaconSender } from './beaconSender.ts';
import type { FigureReader, Figures } from './figures.ts';
import { type LinkFacts, renderLinks } from './links.ts';
import { inPulse, PULSE } from './pace.ts';
import type { Screen } from './screen.ts';
import type { ServingReport } from './serving.ts';
import { renderLine, renderTable, type View } from './table.ts';
import type { Traffic } from './traffic.ts';
import { type RunResult, rejectedCount } from './verdict.ts';

const DRAW_EVERY_MS = 1_000;
const LINE_EVERY_MS = 5_000;
const POLL_EVERY_MS = 250;
/** Live figures look back this far, so that a demo of days reads as little every second as one of minutes. */
const LOOK_BACK_MS = 600_000;
const LOOP_RESOLUTION_MS = 10;
/** Half of a fast token's time: beyond it, gaps tell more of this machine than of the stream. */
const BUSY_MS = 30;

export interface ProgressSources {
  readonly options: DemoOptions;
  readonly plain: boolean;
  readonly screen: Screen;
  readonly reader: FigureReader;
  /** Start of the run by the database's clock. */
  readonly since: Date;
  readonly sender: BeaconSender;
  readonly traffic: Traffic;
  readonly serving: { report(): ServingReport | undefined };
  readonly links: Omit<LinkFacts, 'traceId'>;
}

export interface Progress {
  /** What goes on after the load; empty while it lasts. */
  phase: string;
  /** Resolves when every acknowledged request has both halves, and the servers' own records are in; or when it gets late. */
  joinedOrLate(withinMs: number): Promise<void>;
  /** Reads the whole run once more and shows it for good. */
  finish(): Promise<RunResult>;
  stop(): Promise<void>;
}

/** Reads the figures again and again, and shows them. */
export function createProgress(sources: ProgressSources): Progress {
  const { options, plain, screen, reader, since, sender, traffic, serving, links } = sources;
  const beganMs = performance.now();
  const ended = new AbortController();
  const loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loopDelay.enable();
  let figures: Figures | null = null;
  let readFault = '';
  let slowest: Figures['slowest'] = null;

  const read = async (from: Date): Promise<Figures | null> => {
    try {
      figures = await reader.read(from);
      readFault = '';
      if (figures.slowest && figures.slowest.ttftMs > (slowest?.ttftMs ?? 0)) slowest = figures.slowest;
      figures = { ...figures, slowest };
      return figures;
    } catch (error) {
      readFault = `the database cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      return null;
    }
  };

  /** Refused beacons by reason, and the servers' records that were refused or given up. */
  const rejected = (): Map<string, number> => {
    const reasons = new Map(sender.rejected);
    const report = serving.report();
    if (report?.failed) reasons.set('server records', report.failed);
    if (report?.dropped) reasons.set('server records given up', report.dropped);
    return reasons;
  };

  const view = (): View => {
    const elapsedMs = performance.now() - beganMs;
    const pulse = inPulse(elapsedMs) ? `pulse: ${PULSE.factor} times the load` : 'running';
    return {
      elapsedMs,
      ...options,
      phase: readFault || progress.phase || pulse,
      counts: traffic.counts,
      rejected: rejectedCount(rejected()),
      figures,
    };
  };
  const table = (live: boolean): string[] => {
    const traceId = slowest?.traceId ?? traffic.lastTraceId;
    // After the end nobody listens at these addresses.
    const below = live ? ['', ...renderLinks({ ...links, traceId })] : [];
    const full = [...renderTable(view(), false), ...below];
    // A small terminal gets what matters most.
    return full.length < (process.stdout.rows ?? full.length + 1) ? full : [...renderTable(view(), true), ...below];
  };

  const showRepeatedly = async (): Promise<void> => {
    let lineDueMs = 0;
    while (!ended.signal.aborted) {
      const lookBack = new Date(Date.now() - LOOK_BACK_MS);
      await read(lookBack > since ? lookBack : since);
      if (ended.signal.aborted) return;
      screen.draw(table(true));
      if (plain && performance.now() >= lineDueMs) {
        lineDueMs = performance.now() + LINE_EVERY_MS - DRAW_EVERY_MS / 2;
        screen.say(renderLine(view()));
      }
      await wait(DRAW_EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  };

  const progress: Progress = {
    phase: '',
    async joinedOrLate(withinMs) {
      const untilMs = performance.now() + withinMs;
      while (performance.now() < untilMs && !ended.signal.aborted) {
        const now = await read(since);
        const complete = now !== null && now.finals >= sender.finalTraces && now.direct >= now.finals;
        if (complete && (serving.report()?.waiting ?? 0) === 0) return;
        await wait(POLL_EVERY_MS);
      }
    },
    async finish() {
      await progress.stop();
      const last = await reader.read(since);
      figures = { ...last, slowest };
      progress.phase = 'finished';
      for (const line of table(false)) screen.say(line);
      screen.say('');
      // What the clients' own loop was late is in their figures: a busy machine measures itself.
      const lateMs = Math.max(0, loopDelay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS);
      screen.say(`The clients' clock was read at most ${lateMs.toFixed(0)} ms late in 99 % of all readings.`);
      if (lateMs > BUSY_MS || traffic.counts.heldBack > 0) {
        screen.say('This machine was too busy to measure well: its own delays are in the figures. Try a lower --rate.');
      }
      const { finalTraces: acknowledged, lost: lostBeacons } = sender;
      return { acknowledged, figures: last, rejected: rejected(), lostBeacons };
    },
    async stop() {
      ended.abort();
      loopDelay.disable();
      await shown;
    },
  };
  const shown = showRepeatedly();
  return progress;
}
