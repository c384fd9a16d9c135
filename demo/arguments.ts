import { helpOf, readArguments } from '../commandLine/command.ts';
import { ROWS_PER_HOUR } from './backfill/backfill.ts';

/** What the command line asks for. */
export interface DemoOptions {
  /** How long to start requests, milliseconds; null until Ctrl-C. */
  readonly runForMs: number | null;
  /** Requests a second outside the pulses of load. */
  readonly ratePerSecond: number;
  readonly seed: number;
  /** Hours of invented history to write before the traffic; 0: none. */
  readonly backfillHours: number;
  /** Plain lines instead of a table that is redrawn in place. */
  readonly plain: boolean;
}

export type ParsedArguments =
  | { readonly kind: 'run'; readonly options: DemoOptions }
  | { readonly kind: 'help' }
  /** One line for each thing that is wrong. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

export const MIN_RATE = 0.1;
export const MAX_RATE = 200;
const MAX_RUN_MS = 7 * 24 * 3_600_000;
const MAX_SEED = 2 ** 32 - 1;

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/;
const DECIMAL = /^\d+(?:\.\d+)?$/;

/** Reads `500ms`, `30s`, `1.5m`, `1h` or `7d`; a number without its unit is null, since nobody can tell what it means. Milliseconds. */
export function parseDurationMs(text: string): number | null {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

function readRunForMs(text: string): number {
  const runForMs = parseDurationMs(text);
  if (runForMs !== null && runForMs > 0 && runForMs <= MAX_RUN_MS) return runForMs;
  throw new RangeError('a time such as 500ms, 30s, 5m or 1h (at most seven days)');
}

/** The service keeps thirty days, and drops a day as a whole. */
const MAX_BACKFILL_DAYS = 28;

function readBackfillHours(text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== null && ms >= UNITS_MS.h && ms <= MAX_BACKFILL_DAYS * UNITS_MS.d) return Math.round(ms / UNITS_MS.h);
  throw new RangeError(`a time such as 12h or 7d (1h to ${MAX_BACKFILL_DAYS}d)`);
}

function readRate(text: string): number {
  const rate = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (rate >= MIN_RATE && rate <= MAX_RATE) return rate;
  throw new RangeError(`requests a second from ${MIN_RATE} to ${MAX_RATE}`);
}

function readSeed(text: string): number {
  const seed = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (seed <= MAX_SEED) return seed;
  throw new RangeError(`a whole number from 0 to ${MAX_SEED}`);
}

const COMMAND = {
  name: 'npm run demo',
  summary: `Starts the ingest service with an embedded PostgreSQL, a simulated LLM backend, a gateway in front of it (nginx, where it is
installed) and clients that stream answers through both (a Chromium among them, where it is installed), and shows what the database knows
about them. A chat page is there to try it by hand. Everything listens on loopback only.`,
  options: {
    for: {
      value: '<time>',
      help: 'stop after this time (500ms, 30s, 5m, 1h); without it, on Ctrl-C',
      read: readRunForMs,
    },
    rate: {
      value: '<n>',
      help: `requests a second, ${MIN_RATE} to ${MAX_RATE} (20); pulses of three times as many come on top`,
      read: readRate,
    },
    seed: {
      value: '<n>',
      help: 'whole number that all draws follow from (7): equal seeds make equal traffic',
      read: readSeed,
    },
    backfill: {
      value: '<time>',
      help: `first write an invented history of so long (12h, 7d), ${ROWS_PER_HOUR.toLocaleString('en')} requests an hour; a week takes a minute or two`,
      read: readBackfillHours,
    },
    plain: { help: 'lines instead of a table (also chosen without a terminal, and by NO_COLOR)' },
  },
  environment:
    'DATA_DIR (.data/demo) keeps the rows, and the logs of all parts in logs/; PORT (8080) and ADMIN_PORT (9464) are taken when they are free.',
  exitCodes: { 0: 'at least 99 % of the finished requests were joined and none was rejected', 1: 'else' },
};

export const HELP = helpOf(COMMAND);

/** Takes the arguments after the script's name. Reports every fault, not only the first. */
export function parseArguments(given: readonly string[]): ParsedArguments {
  const reading = readArguments(COMMAND, given);
  if (reading.kind !== 'run') return reading;
  const {
    for: runForMs = null,
    rate: ratePerSecond = 20,
    seed = 7,
    backfill: backfillHours = 0,
    plain,
  } = reading.values;
  return { kind: 'run', options: { runForMs, ratePerSecond, seed, backfillHours, plain } };
}
