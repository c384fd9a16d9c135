/** Measures what dashboards read, over a history of days: `npm run bench:reads`. Method: docs/performance.md. */
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import { anyText, takeArguments } from '../../commandLine/command.ts';
import { showWaiting } from '../../commandLine/waiting.ts';
import { rawOf, tableOf } from '../report.ts';
import { readFigures } from './readFigures.ts';

function positive(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError('a whole number above 0');
}

const COMMAND = {
  name: 'npm run bench:reads',
  summary: 'Measures every panel and the rollups over a synthetic history, which is made once and kept in .data/bench.',
  options: {
    rows: { value: '<number>', help: 'requests in the history; 10 million by default', read: positive },
    days: { value: '<number>', help: 'days of the history; 7 by default', read: positive },
    rounds: { value: '<number>', help: 'how often each is measured; 5 by default', read: positive },
    json: { value: '<file>', help: 'write all figures, round by round, into a file', read: anyText },
  },
  exitCodes: { 0: 'measured, whether the goals are met or not' },
} as const;

const { rows = 10_000_000, days = 7, rounds = 5, json } = takeArguments(COMMAND);
const [loadBefore = 0] = os.loadavg();
const waiting = showWaiting('starting PostgreSQL');
const figures = await readFigures({ rows, days, rounds, say: (step) => waiting.at(step) });
waiting.end();
const [loadAfter = 0] = os.loadavg();
console.log(
  `${rows.toLocaleString('en')} requests, ${days} days, Node ${process.version}, load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`,
);
console.log(`\n${tableOf(figures, null)}\n\n${rawOf(figures)}`);
if (json !== undefined) await writeFile(json, `${JSON.stringify({ rows, days, rounds, figures }, null, 2)}\n`);
