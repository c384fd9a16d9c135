import type { Tint } from '../commandLine/colour.ts';
import type { NamedFinding } from './examine.ts';

const MARKS = { good: ['good ', 'green'], fault: ['FAULT', 'red'], skipped: ['  -  ', 'dim'] } as const;

/** For people: a line for each thing, its advice below, and a count. */
export function renderFindings(findings: readonly NamedFinding[], tint: Tint): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, verdict, what, advice }) => {
    const [mark, colour] = MARKS[verdict];
    const text = `${check.padEnd(width)}  ${what}`;
    const first = `${tint(colour, mark)}  ${verdict === 'skipped' ? tint('dim', `${text}${advice === null ? '' : ` ${advice}`}`) : text}`;
    const indent = ' '.repeat(mark.length + 2 + width + 2);
    return verdict === 'fault' ? [first, `${indent}${tint('bold', advice!)}`] : [first];
  });
  const count = (verdict: NamedFinding['verdict']) => findings.filter((each) => each.verdict === verdict).length;
  const faults = count('fault');
  const summary = `${faults === 0 ? 'No fault' : `${faults} ${faults === 1 ? 'fault' : 'faults'}`}; ${count('good')} good, ${count('skipped')} not looked at.`;
  return `${lines.join('\n')}\n\n${tint(faults === 0 ? 'green' : 'red', summary)}\n`;
}

/** For programs: `{"healthy":…,"findings":[{"check","verdict","what","advice"}]}`. */
export function renderJson(findings: readonly NamedFinding[]): string {
  const healthy = findings.every(({ verdict }) => verdict !== 'fault');
  return `${JSON.stringify({ healthy, findings }, null, 2)}\n`;
}
