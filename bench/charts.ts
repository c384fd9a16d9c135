import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Figure } from './figure.ts';
import { type Line, lineChart } from './lineChart.ts';

const FOLDER = path.join(import.meta.dirname, '../docs/images');

interface Chart {
  readonly file: string;
  readonly title: string;
  /** Figures whose id begins so, each a place on the x axis. */
  readonly of: string;
  readonly x: { readonly title: string; readonly raw: string };
  readonly yTitle: string;
  readonly lines: Readonly<Record<string, string>>;
}

const CHARTS: readonly Chart[] = [
  {
    file: 'bench-rows.svg',
    title: 'Throughput against stored rows',
    of: 'growth/',
    x: { title: 'stored rows', raw: 'rows' },
    yTitle: 'events a second',
    lines: { 'grown events/s': 'at so many rows', 'empty events/s': 'empty table, same rounds' },
  },
  {
    file: 'bench-panels.svg',
    title: 'Statements of panels over seven days, against requests',
    of: 'reads/rows-',
    x: { title: 'requests in seven days', raw: 'rows' },
    yTitle: 'milliseconds',
    lines: { 'slowest ms': 'slowest of all panels', 'median ms': 'median of all panels' },
  },
  {
    file: 'bench-scrape.svg',
    title: 'Longest block of the event loop by one scrape',
    of: 'metrics/scrape-',
    x: { title: 'series', raw: 'series' },
    yTitle: 'milliseconds',
    lines: { 'block ms': 'Firsttoken', 'prom-client block ms': 'prom-client metrics()' },
  },
  {
    file: 'bench-streams.svg',
    title: 'Memory of a Node app against open streams',
    of: 'streams/',
    x: { title: 'open streams', raw: 'streams' },
    yTitle: 'resident MB',
    lines: { 'with MB': 'with the middleware', 'without MB': 'without' },
  },
];

/** Draws the charts whose figures were measured. */
export async function writeCharts(figures: readonly Figure[]): Promise<void> {
  for (const { file, title, of, x, yTitle, lines } of CHARTS) {
    const points = figures.filter(({ id, raw }) => id.startsWith(of) && raw?.[x.raw] !== undefined);
    if (points.length < 2) continue;
    const drawn: Line[] = Object.entries(lines).map(([name, label]) => ({
      label,
      points: points.map(({ raw }) => [raw![x.raw]!, raw![name] ?? 0] as const),
    }));
    await writeFile(path.join(FOLDER, file), lineChart({ title, xTitle: x.title, yTitle, lines: drawn }));
  }
}
