/**
 * Measures the service against baselines of the same run: `npm run bench`. Method: docs/performance.md. Every part runs in a process of
 * its own; what is compared takes turns, so that each ratio is of two neighbours in time.
 */
import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { anyText, takeArguments } from '../commandLine/command.ts';
import { showWaiting } from '../commandLine/waiting.ts';
import { CASES, type CaseName, SLOW } from './cases.ts';
import { writeCharts } from './charts.ts';
import type { Figure } from './figure.ts';
import { type Run, rawOf, tableOf } from './report.ts';
import { startWorld } from './world.ts';

const NAMES = Object.keys(CASES) as CaseName[];

const COMMAND = {
  name: 'npm run bench',
  summary: 'Measures the service against baselines of the same run, and prints one table of figures and goals.',
  options: {
    quick: { help: `fewer rounds and rows, in three minutes, and without ${SLOW.join(', ')}; its figures are rough` },
    large: { help: 'also with 10 and 50 million stored rows, some 70 GB of disk, and reads of 10 million requests' },
    only: {
      value: '<name,…>',
      help: `some cases only: ${NAMES.join(', ')}`,
      read(text: string): CaseName[] {
        const names = text.split(',') as CaseName[];
        if (names.every((name) => NAMES.includes(name))) return names;
        throw new RangeError(`names of cases: ${NAMES.join(', ')}`);
      },
    },
    json: { value: '<file>', help: 'write all figures, round by round, into a file', read: anyText },
    against: { value: '<file>', help: 'show an earlier run beside this one', read: anyText },
    charts: { help: 'draw docs/images/bench-*.svg anew from this run' },
  },
  exitCodes: { 0: 'measured, whether the goals are met or not', 1: 'a case broke' },
} as const;

const options = takeArguments(COMMAND);
const earlier = options.against === undefined ? null : (JSON.parse(await readFile(options.against, 'utf8')) as Run);
const waiting = showWaiting('starting PostgreSQL');
const [loadBefore = 0] = os.loadavg();
const startedAt = new Date().toISOString();
const world = await startWorld({ quick: options.quick, large: options.large, say: (step) => waiting.at(step) });
// Neither PostgreSQL nor a service may stay behind a run that is stopped.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void world.end().finally(() => process.exit(1)));
}
const figures: Figure[] = [];
const broken: string[] = [];
try {
  const chosen = options.only ?? NAMES.filter((name) => !(options.quick && SLOW.includes(name)));
  for (const [at, name] of chosen.entries()) {
    const beganMs = performance.now();
    waiting.at(`${name} (${at + 1} of ${chosen.length})`);
    try {
      figures.push(...(await CASES[name](world)));
    } catch (error) {
      broken.push(`${name}: ${(error as Error).stack}`);
    }
    await world.endCase();
    process.stderr.write(`${name}: ${Math.round((performance.now() - beganMs) / 1e3)} s\n`);
  }
} finally {
  await world.end();
  waiting.end();
}

const run: Run = {
  node: process.version,
  cpus: `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown'}`,
  startedAt,
  quick: options.quick,
  load1: [loadBefore, os.loadavg()[0] ?? 0],
  figures,
  broken,
};
const [before, after] = run.load1;
console.log(
  `${run.startedAt}, Node ${run.node}, ${run.cpus}, load ${before.toFixed(1)} before, ${after.toFixed(1)} after`,
);
console.log(`\n${tableOf(figures, earlier)}\n\n${rawOf(figures)}`);
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(run, null, 2)}\n`);
if (options.charts) await writeCharts(figures);
for (const fault of broken) console.error(`\nbroken: ${fault}`);
process.exitCode = broken.length > 0 ? 1 : 0;
