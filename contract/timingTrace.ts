import { MAX_STAGE_NS } from './limits.ts';
import { accept, type Result, reject } from './rejections.ts';

/** Stages between neighbouring stamps of `X-Timing-Trace`: the first ends at t1, the last at t6. */
export const STAMPED_STAGES = ['receive', 'preprocess', 'kv_load', 'first_token', 'serialize', 'send'] as const;

export type StampedStage = (typeof STAMPED_STAGES)[number];

/** Number of stamps in the header: t0 to t6. */
export const STAMPS = 7;

export interface TimingTrace {
  /** Nanoseconds of each stage, exact; null where one of its two stamps was not taken. */
  readonly stagesNs: Record<StampedStage, number | null>;
  /** Server TTFT in nanoseconds: from the completely received request to the first token handed out. */
  readonly ttftNs: number | null;
  /** The stamps that `ttftNs` lies between, for example `t1-t6`. */
  readonly ttftBasis: string | null;
  /** How many of the seven stamps were taken. */
  readonly stampCount: number;
  /** Positions of the stamps that were not taken. */
  readonly missing: number[];
}

const INTEGER = /^[0-9]{1,20}$/;
/** With the blanks that HTTP allows around the members of a list; `trim` would take away a dozen others. */
const MEMBER = /^[ \t]*([0-9]+)[ \t]*$/;
/** Up to this many digits a decimal is a safe integer, and plain numbers are exact and ten times as fast as BigInt. */
const SAFE_DIGITS = 15;
const [ZERO, COMMA] = [48, 44];
/** Names of the spans between two stamps, so that they are one text each and not made anew. */
const BASES = Array.from({ length: STAMPS }, (_, start) =>
  Array.from({ length: STAMPS }, (_, end) => `t${start}-t${end}`),
);

const MALFORMED = reject(
  'malformed_timing_trace',
  'X-Timing-Trace is seven comma-separated non-negative decimal integers (nanoseconds; 0 for a stamp not taken), at least one of them not 0.',
);
const NOT_MONOTONIC = reject(
  'not_monotonic',
  'A stamp of X-Timing-Trace is lower than an earlier one; all seven must come from one monotonic clock of one process.',
);
const CLOCK_MISMATCH = reject(
  'clock_mismatch',
  'A stage of X-Timing-Trace is longer than an hour; all seven stamps must come from one monotonic clock of one process.',
);

/**
 * Reads `t0,t1,t2,t3,t4,t5,t6`. Values pass 2^53 after 104 days of uptime, so they are subtracted before they become numbers;
 * the differences, at most an hour each, are exact.
 *
 * @returns the durations, or `malformed_timing_trace`, `not_monotonic`, `clock_mismatch`
 */
export function parseTimingTrace(text: string): Result<TimingTrace> {
  const plain = readPlain(text);
  if (plain !== null) return measure(plain, subtractNumbers);
  const parts = text.split(',');
  if (parts.length !== STAMPS) return MALFORMED;
  return readStamps(parts.map((part) => MEMBER.exec(part)?.[1] ?? ''));
}

/** The same from seven decimal strings (a JSON array's form). */
export function readStamps(parts: readonly string[]): Result<TimingTrace> {
  if (parts.length !== STAMPS) return MALFORMED;
  let safe = true;
  for (const part of parts) {
    if (!INTEGER.test(part)) return MALFORMED;
    if (part.length > SAFE_DIGITS) safe = false;
  }
  return safe ? measure(parts.map(Number), subtractNumbers) : measure(parts.map(BigInt), subtractBigInts);
}

/** What nearly every header is: seven short numbers and six commas. Null for anything else, right or wrong. */
function readPlain(text: string): number[] | null {
  const stamps: number[] = [];
  let stamp = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit >= 0 && digit <= 9) {
      digits += 1;
      stamp = stamp * 10 + digit;
    } else {
      if (digit !== COMMA - ZERO || digits === 0 || digits > SAFE_DIGITS) return null;
      stamps.push(stamp);
      stamp = 0;
      digits = 0;
    }
  }
  stamps.push(stamp);
  return digits > 0 && digits <= SAFE_DIGITS && stamps.length === STAMPS ? stamps : null;
}

type Subtract<T> = (later: T, earlier: T) => number;

const subtractNumbers = (later: number, earlier: number): number => later - earlier;
const subtractBigInts = (later: bigint, earlier: bigint): number => Number(later - earlier);

const isTaken = (stamp: number | bigint | undefined): boolean => stamp !== 0 && stamp !== 0n;

function measure<T extends number | bigint>(stamps: readonly T[], subtract: Subtract<T>): Result<TimingTrace> {
  const missing: number[] = [];
  let last = -1;
  for (let position = 0; position < STAMPS; position++) {
    if (!isTaken(stamps[position])) {
      missing.push(position);
      continue;
    }
    if (last >= 0) {
      const elapsed = subtract(stamps[position]!, stamps[last]!);
      if (elapsed < 0) return NOT_MONOTONIC;
      // Across stamps not taken, each of the stages in between may have had its hour.
      if (elapsed > MAX_STAGE_NS * (position - last)) return CLOCK_MISMATCH;
    }
    last = position;
  }
  if (last < 0) return MALFORMED;

  const start = isTaken(stamps[1]) ? 1 : isTaken(stamps[0]) ? 0 : -1;
  const end = last >= 4 ? last : -1;
  const known = start >= 0 && end >= 0;
  return accept({
    stagesNs: {
      receive: between(stamps, subtract, 0, 1),
      preprocess: between(stamps, subtract, 1, 2),
      kv_load: between(stamps, subtract, 2, 3),
      first_token: between(stamps, subtract, 3, 4),
      serialize: between(stamps, subtract, 4, 5),
      send: between(stamps, subtract, 5, 6),
    },
    ttftNs: known ? between(stamps, subtract, start, end) : null,
    ttftBasis: known ? BASES[start]![end]! : null,
    stampCount: STAMPS - missing.length,
    missing,
  });
}

function between<T extends number | bigint>(
  stamps: readonly T[],
  subtract: Subtract<T>,
  start: number,
  end: number,
): number | null {
  return isTaken(stamps[start]) && isTaken(stamps[end]) ? subtract(stamps[end]!, stamps[start]!) : null;
}

/**
 * Writes the header from stamps of one monotonic clock (`process.hrtime.bigint()`); a stamp not taken is null.
 */
export function formatTimingTrace(stamps: readonly (bigint | null)[]): string {
  return Array.from({ length: STAMPS }, (_, position) => String(stamps[position] ?? 0n)).join(',');
}
