import { median } from './middleware/statistics.ts';

export type Unit = '×' | 'µs' | 'ms' | 's' | 'bytes' | '%';

/** What a figure should come to. `aim` is what is hoped for beyond it. */
export interface Goal {
  readonly is: 'at least' | 'at most';
  readonly value: number;
  readonly aim?: number;
}

/** One line of the table. Ratios are of neighbours in time: one a round, never of two medians. */
export interface Figure {
  /** Stays the same between releases, so that runs can be compared. */
  readonly id: string;
  readonly what: string;
  readonly baseline: string;
  readonly unit: Unit;
  /** One value for each round, at least one. */
  readonly rounds: readonly number[];
  readonly goal?: Goal;
  /** Medians of what the figure is made of, by name with unit. */
  readonly raw?: Readonly<Record<string, number>>;
}

export type Verdict = 'reached' | 'aim reached' | 'missed' | '';

/** A goal counts as missed when the median misses it. */
export function verdictOf({ rounds, goal }: Figure): Verdict {
  if (goal === undefined) return '';
  const value = median(rounds);
  const reaches = (limit: number) => (goal.is === 'at least' ? value >= limit : value <= limit);
  if (!reaches(goal.value)) return 'missed';
  return goal.aim !== undefined && reaches(goal.aim) ? 'aim reached' : 'reached';
}

/** Element-wise ratios. @throws RangeError when the lists differ in length */
export function ratios(values: readonly number[], baselines: readonly number[]): number[] {
  if (values.length !== baselines.length) throw new RangeError('as many baselines as values are needed');
  return values.map((value, round) => value / baselines[round]!);
}
