import { type Spread, spreadOf } from './statistics.ts';
import type { Variant } from './variants.ts';

/** One variant in one round. */
export interface Sample {
  /** Processor time of the server per answer. */
  readonly cpuUs: number;
  readonly answerUs: number;
  readonly firstTokenUs: number;
}

export type Round = Readonly<Record<Variant, Sample>>;

export interface Row extends Spread {
  readonly what: string;
  readonly unit: 'ms' | 'µs' | '×';
  /** The median should be no more; absent where the row only explains. */
  readonly goal?: number;
  readonly reached?: boolean;
}

function row(what: string, unit: Row['unit'], values: readonly number[], goal?: number): Row {
  const spread = spreadOf(values);
  return { what, unit, ...spread, ...(goal !== undefined && { goal, reached: spread.median <= goal }) };
}

export function rowsOf(rounds: readonly Round[]): Row[] {
  return [
    row(
      'CPU per answer, app alone',
      'ms',
      rounds.map(({ plain }) => plain.cpuUs / 1e3),
    ),
    row(
      'CPU per answer, with the middleware',
      'ms',
      rounds.map(({ timed }) => timed.cpuUs / 1e3),
    ),
    row(
      'CPU per answer, ratio',
      '×',
      rounds.map(({ plain, timed }) => timed.cpuUs / plain.cpuUs),
      1.02,
    ),
    row(
      '… of an AsyncLocalStorage alone',
      '×',
      rounds.map(({ plain, context }) => context.cpuUs / plain.cpuUs),
    ),
    row(
      '… of the middleware to that',
      '×',
      rounds.map(({ context, timed }) => timed.cpuUs / context.cpuUs),
    ),
    row(
      'time per answer, ratio',
      '×',
      rounds.map(({ plain, timed }) => timed.answerUs / plain.answerUs),
      1.02,
    ),
    row(
      'TTFT, app alone',
      'µs',
      rounds.map(({ plain }) => plain.firstTokenUs),
    ),
    row(
      'TTFT added',
      'µs',
      rounds.map(({ plain, timed }) => timed.firstTokenUs - plain.firstTokenUs),
      50,
    ),
    row(
      '… by an AsyncLocalStorage alone',
      'µs',
      rounds.map(({ plain, context }) => context.firstTokenUs - plain.firstTokenUs),
    ),
  ];
}

const DIGITS = { ms: 3, µs: 1, '×': 4 } as const;

export function printTable(rows: readonly Row[], rounds: number): void {
  const cells = rows.map(({ what, unit, goal, reached, ...spread }) => {
    const number = (value: number | undefined) => (value === undefined ? '' : value.toFixed(DIGITS[unit]));
    const verdict = reached === undefined ? '' : reached ? 'reached' : 'not reached';
    return [
      what,
      unit,
      number(spread.median),
      number(spread.min),
      number(spread.max),
      goal === undefined ? '' : `≤ ${goal}`,
      verdict,
    ];
  });
  const head = ['', '', 'median', 'min', 'max', 'goal', ''];
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((line) => line[at]!.length)));
  const print = (line: readonly string[]) =>
    console.log(
      line
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
        .join('  ')
        .trimEnd(),
    );
  console.log(`Streams of 200 tokens, ${rounds} rounds, Node ${process.version}\n`);
  for (const line of [head, ...cells]) print(line);
}
