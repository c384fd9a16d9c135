import { type Figure, type Goal, type Unit, verdictOf } from './figure.ts';
import { median } from './middleware/statistics.ts';

/** What `--json` writes and `--against` reads. */
export interface Run {
  readonly node: string;
  readonly cpus: string;
  readonly startedAt: string;
  readonly quick: boolean;
  readonly load1: readonly [before: number, after: number];
  readonly figures: readonly Figure[];
  /** Cases that broke, with the reason. */
  readonly broken: readonly string[];
}

const HEAD = ['figure', 'baseline', 'median', 'min–max', 'goal', '', 'earlier'];

/** The table in Markdown, readable in a terminal as it stands. */
export function tableOf(figures: readonly Figure[], earlier: Run | null): string {
  const before = new Map(earlier?.figures.map((figure) => [figure.id, figure]));
  const head = earlier === null ? HEAD.slice(0, -1) : HEAD;
  const lines = figures.map((figure) => {
    const { what, baseline, unit, rounds, goal } = figure;
    const print = (value: number) => printed(value, unit);
    const range = rounds.length > 1 ? `${print(Math.min(...rounds))}–${print(Math.max(...rounds))}` : '';
    const known = before.get(figure.id);
    const cells = [what, baseline, withUnit(median(rounds), unit), range, goalText(goal, unit), verdictOf(figure)];
    return earlier === null ? cells : [...cells, known === undefined ? '' : withUnit(median(known.rounds), unit)];
  });
  const widths = head.map((title, at) => Math.max(3, title.length, ...lines.map((line) => line[at]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...lines.map(line)].join('\n');
}

/** The medians that the figures are made of. */
export function rawOf(figures: readonly Figure[]): string {
  return figures
    .filter(({ raw }) => raw !== undefined)
    .map(({ what, raw }) => {
      const parts = Object.entries(raw!).map(([name, value]) => `${name} ${plain(value)}`);
      return `- ${what}: ${parts.join('; ')}`;
    })
    .join('\n');
}

function goalText(goal: Goal | undefined, unit: Unit): string {
  if (goal === undefined) return '';
  const aim = goal.aim === undefined ? '' : `, aim ${plain(goal.aim)}`;
  return `${goal.is === 'at least' ? '≥' : '≤'} ${plain(goal.value)}${aim}${unit === '×' ? ' ×' : ` ${unit}`}`;
}

function withUnit(value: number, unit: Unit): string {
  return `${printed(value, unit)} ${unit}`;
}

function printed(value: number, unit: Unit): string {
  if (unit === 'bytes') return value.toFixed(0);
  if (unit === '%') return value.toFixed(1);
  return value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 10 ? 2 : 1);
}

function plain(value: number): string {
  return String(Number(value.toPrecision(4)));
}
