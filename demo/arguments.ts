/** What the command line asks for. */
export interface DemoOptions {
  /** How long to start requests, milliseconds; null until Ctrl-C. */
  readonly runForMs: number | null;
  /** Requests a second outside the pulses of load. */
  readonly ratePerSecond: number;
  readonly seed: number;
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

export const HELP = `Usage: npm run demo -- [--for 30s] [--rate 20] [--seed 7] [--plain] [--help]

Starts the ingest service with an embedded PostgreSQL, a simulated LLM backend, a gateway in front of it and clients that
stream answers through both, and shows what the database knows about them. Everything listens on loopback only.

  --for <time>    stop after this time (500ms, 30s, 5m, 1h); without it, on Ctrl-C
  --rate <n>      requests a second, ${MIN_RATE} to ${MAX_RATE} (20); pulses of three times as many come on top
  --seed <n>      whole number that all draws follow from (7): equal seeds make equal traffic
  --plain         lines instead of a table (also chosen without a terminal, and by NO_COLOR)
  --help          this text

Environment: DATA_DIR (.data/demo) keeps the rows; PORT (8080) and ADMIN_PORT (9464) are taken when they are free.
Exit code: 0 when at least 99 % of the finished requests were joined and none was rejected, else 1; 2 for wrong arguments.
`;

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h)$/;
const DECIMAL = /^\d+(?:\.\d+)?$/;

/** Reads `500ms`, `30s`, `1.5m` or `1h`; a number without its unit is null, since nobody can tell what it means. Milliseconds. */
export function parseDurationMs(text: string): number | null {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** Takes the arguments after the script's name. Reports every fault, not only the first. */
export function parseArguments(given: readonly string[]): ParsedArguments {
  const faults: string[] = [];
  let runForMs: number | null = null;
  let ratePerSecond = 20;
  let seed = 7;
  let plain = false;

  const rest = [...given];
  while (rest.length > 0) {
    const argument = rest.shift()!;
    const equals = argument.indexOf('=');
    const name = equals < 0 ? argument : argument.slice(0, equals);
    if (name === '--help' || name === '-h') return { kind: 'help' };
    if (name === '--plain') {
      if (equals < 0) plain = true;
      else faults.push('--plain takes no value');
      continue;
    }
    if (name !== '--for' && name !== '--rate' && name !== '--seed') {
      faults.push(`unknown argument ${JSON.stringify(argument)}; --help lists those there are`);
      continue;
    }
    // The next argument is the value unless it is an option itself; a sign makes no option (`--rate -1` is a wrong rate).
    const value = equals >= 0 ? argument.slice(equals + 1) : rest[0]?.startsWith('--') ? undefined : rest.shift();
    if (value === undefined || value === '') {
      faults.push(`${name} needs a value`);
    } else if (name === '--for') {
      runForMs = parseDurationMs(value);
      if (runForMs === null || runForMs <= 0 || runForMs > MAX_RUN_MS) {
        faults.push(
          `--for takes a time such as 500ms, 30s, 5m or 1h (at most seven days), not ${JSON.stringify(value)}`,
        );
      }
    } else if (name === '--rate') {
      ratePerSecond = DECIMAL.test(value) ? Number(value) : Number.NaN;
      if (!(ratePerSecond >= MIN_RATE && ratePerSecond <= MAX_RATE)) {
        faults.push(`--rate takes requests a second from ${MIN_RATE} to ${MAX_RATE}, not ${JSON.stringify(value)}`);
      }
    } else {
      seed = /^\d+$/.test(value) ? Number(value) : Number.NaN;
      if (!(seed <= MAX_SEED)) {
        faults.push(`--seed takes a whole number from 0 to ${MAX_SEED}, not ${JSON.stringify(value)}`);
      }
    }
  }
  return faults.length > 0
    ? { kind: 'faults', faults }
    : { kind: 'run', options: { runForMs, ratePerSecond, seed, plain } };
}
