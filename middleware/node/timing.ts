import type { IncomingMessage, ServerResponse } from 'node:http';
import { holdTimeMs, type ObserveOptions, observe, tokenPreset } from './observe.ts';
import { createSender, type SenderStats } from './sender.ts';
import { guarded } from './warnings.ts';

export interface TimingOptions extends Omit<ObserveOptions, 'onRecord'> {
  /** Where the ingest listens, for example `https://firsttoken.internal:8080`. Without it only the headers are added. */
  ingestUrl?: string | undefined;
  /** The ingest's write token. */
  token?: string | undefined;
}

/** A middleware for Express 4 and 5, Connect, and, called with the handler as `next`, for a bare `node:http` server. */
export interface TimingHandler {
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** What became of the records. */
  readonly stats: SenderStats;
  /**
   * Sends the records that wait, then stops sending; what has not gone after `deadlineMs` (5000) is dropped. Call it after the
   * server has closed.
   */
  close(deadlineMs?: number): Promise<void>;
}

const NO_STATS: SenderStats = Object.freeze({ sent: 0, dropped: 0, failed: 0, waiting: 0 });

/**
 * Observes every request that passes, and posts one record of each to the ingest in the background. Use it before all other
 * middleware, but after `compression()`, whose output it could not read.
 *
 * @throws TypeError at once, that names a wrong option; never later
 */
export function timing(options: TimingOptions = {}): TimingHandler {
  const sender =
    options.ingestUrl === undefined ? undefined : createSender({ ingestUrl: options.ingestUrl, token: options.token });
  const settings: ObserveOptions = {
    tokens: tokenPreset(options.tokens),
    holdMs: holdTimeMs(options.holdMs),
    factsEvent: options.factsEvent,
    context: options.context,
    // A method of the options may use the others.
    describe: options.describe && ((req) => options.describe!(req)),
    onRecord: sender && ((record) => sender.send(record)),
  };
  return Object.assign(
    (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void => {
      const observation = guarded('internal', () => observe(req, res, settings));
      if (observation) observation.run(next);
      else next();
    },
    { stats: sender?.stats ?? NO_STATS, close: async (deadlineMs?: number) => sender?.close(deadlineMs) },
  );
}
