import { type Estimate, estimate } from './statistics.ts';
import type { Variant } from './variants.ts';

/** What one turn of every variant, right after each other, has cost. */
export type Turn = Readonly<Record<Variant, TurnCost>>;

export interface TurnCost {
  /** Processor time of the server per answer. */
  readonly cpuUs: number;
  readonly answerUs: number;
}

/** First tokens of one request of every variant, right after each other. */
export type FirstTokens = Readonly<Record<Variant, number>>;

/** `unclear`: the goal lies inside the interval. */
type Verdict = 'reached' | 'missed' | 'unclear';

export interface Row extends Estimate {
  readonly what: string;
  readonly unit: 'ms' | 'µs' | '×';
  /** The median should be no more; absent where the row only explains. */
  readonly goal?: number;
  readonly verdict?: Verdict;
}

function row(what: string, unit: Row['unit'], values: readonly number[], goal?: number): Row {
  const known = estimate(values);
  if (goal === undefined) return { what, unit, ...known };
  return { what, unit, ...known, goal, verdict: verdictOf(known, goal) };
}

function verdictOf({ low, high }: Estimate, goal: number): Verdict {
  if (high <= goal) return 'reached';
  return low > goal ? 'missed' : 'unclear';
}

const RATIO = 1.02;
const FIRST_TOKEN_US = 50;

/** All comparisons are of neighbours in time: one ratio or difference a turn, never of two medians. */
export function rowsOf(turns: readonly Turn[], firstTokens: readonly FirstTokens[]): Row[] {
  const cpu = (variant: Variant) => turns.map((turn) => turn[variant].cpuUs / turn.plain.cpuUs);
  const time = (variant: Variant) => turns.map((turn) => turn[variant].answerUs / turn.plain.answerUs);
  const added = (variant: Variant) => firstTokens.map((each) => each[variant] - each.plain);
  const plainMs = turns.map(({ plain }) => plain.cpuUs / 1e3);
  const plainUs = firstTokens.map(({ plain }) => plain);
  return [
    row('CPU per answer, app alone', 'ms', plainMs),
    row('CPU ratio', '×', cpu('timed'), RATIO),
    row('CPU ratio, context: false', '×', cpu('explicit'), RATIO),
    row('CPU ratio of an AsyncLocalStorage alone', '×', cpu('context')),
    row('time ratio', '×', time('timed'), RATIO),
    row('time ratio, context: false', '×', time('explicit'), RATIO),
    row('TTFT, app alone', 'µs', plainUs),
    row('TTFT added', 'µs', added('timed'), FIRST_TOKEN_US),
    row('TTFT added, context: false', 'µs', added('explicit'), FIRST_TOKEN_US),
    row('TTFT added by an AsyncLocalStorage alone', 'µs', added('context')),
  ];
}

const DIGITS = { ms: 3, µs: 1, '×': 4 } as const;

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map(({ what, unit, goal, verdict = '', median, low, high }) => {
    const number = (value: number) => value.toFixed(DIGITS[unit]);
    const limit = goal === undefined ? '' : `≤ ${goal}`;
    return [what, unit, number(median), number(low), number(high), limit, verdict];
  });
  const head = ['', '', 'median', '95 % from', 'to', 'goal', ''];
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((line) => line[at]!.length)));
  const print = (line: readonly string[]) =>
    console.log(
      line
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
        .join('  ')
        .trimEnd(),
    );
  console.log(`Streams of 200 tokens, Node ${process.version}\n`);
  for (const line of [head, ...cells]) print(line);
}
