import { once } from 'node:events';

/** A part of the demo that runs in its own process. */
export interface ChildPart<Ready, Report> {
  /** What the parent needs to know, as JSON. */
  readonly ready: Ready;
  /** How things stand; asked for every half second. */
  report?(): Report;
  /** Resolves when the part cannot go on. */
  readonly failed?: Promise<Error>;
  stop(): Promise<void>;
}

export type ChildMessage<Ready, Report> =
  | { readonly ready: Ready }
  | { readonly report: Report }
  | { readonly failed: string };

/** The variable that hands a child its options, so that a token stands in no list of processes. */
export const INPUT_VARIABLE = 'DEMO_INPUT';

/** What the parent sends to end a child. */
export const STOP_MESSAGE = 'stop';

const REPORT_EVERY_MS = 500;

/**
 * The child's side: starts the part, tells the parent, and stops it when the parent says so or is gone. A parent that died has let go
 * of the channel, so no child stays behind, however the parent ended.
 */
export async function runAsChild<Input, Ready, Report = never>(
  start: (input: Input) => Promise<ChildPart<Ready, Report>>,
): Promise<void> {
  const leave = (): void => {
    if (process.connected) process.disconnect?.();
  };
  const tell = (message: ChildMessage<Ready, Report>): void => {
    if (process.connected) process.send?.(message);
  };
  const released = once(process, 'disconnect');
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) leave();
  });
  process.once('SIGTERM', leave);
  try {
    const part = await start(JSON.parse(process.env[INPUT_VARIABLE] ?? '{}') as Input);
    tell({ ready: part.ready });
    const reports = setInterval(() => part.report && tell({ report: part.report() }), REPORT_EVERY_MS);
    const failure = process.connected ? await Promise.race([released.then(() => null), part.failed ?? released]) : null;
    clearInterval(reports);
    if (failure instanceof Error) {
      tell({ failed: failure.message });
      process.exitCode = 1;
    }
    await part.stop();
  } catch (error) {
    tell({ failed: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
  }
  leave();
}
