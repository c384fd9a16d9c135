import { randomBytes } from 'node:crypto';
import { Histogram as PromHistogram, Registry } from 'prom-client';
import { MAX_LABEL_SETS } from '../../contract/limits.ts';
import { METRICS } from '../../contract/metrics.ts';
import { ExpositionRegistry } from '../../ingest/metrics/expositionRegistry.ts';
import { Histogram } from '../../ingest/metrics/histogram.ts';
import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import type { World } from '../world.ts';

const DEFINITION = METRICS.ttft;
const OBSERVATIONS = 200_000;
const SIZES = [1_000, 10_000, 50_000, 100_000];

/** Label sets as a service sees them: few are used often. */
function labelSets(count: number): string[][] {
  return Array.from({ length: count }, (_, set) =>
    DEFINITION.labels.map((label, at) => `${label}-${at === 0 ? set : set % 4}`),
  );
}

function promHistogram(): { histogram: PromHistogram; registry: Registry } {
  const registry = new Registry();
  const histogram = new PromHistogram({
    name: DEFINITION.name,
    help: DEFINITION.help,
    labelNames: [...DEFINITION.labels],
    buckets: [...DEFINITION.buckets],
    registers: [registry],
  });
  return { histogram, registry };
}

const asObject = (values: readonly string[]) =>
  Object.fromEntries(DEFINITION.labels.map((label, at) => [label, values[at]!]));

/** Nanoseconds of one call, of a loop long enough to be compiled. */
function nsOf(call: (at: number) => void): number {
  const began = process.hrtime.bigint();
  for (let at = 0; at < OBSERVATIONS; at++) call(at);
  return Number(process.hrtime.bigint() - began) / OBSERVATIONS;
}

function observing(rounds: number): Figure {
  const sets = labelSets(100);
  const objects = sets.map(asObject);
  const ids = Array.from({ length: 1_000 }, () => randomBytes(16).toString('hex'));
  const ours = new Histogram(DEFINITION, MAX_LABEL_SETS, () => {});
  const { histogram } = promHistogram();
  const value = (at: number) => ((at * 7) % 3_000) / 1e3;
  const one = () => nsOf((at) => ours.observe(sets[at % 100]!, value(at), ids[at % 1_000]!));
  const other = () => nsOf((at) => histogram.observe(objects[at % 100]!, value(at)));
  one();
  other();
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    mine.push(one());
    theirs.push(other());
  }
  return {
    id: 'metrics/observe',
    what: 'one histogram observation with exemplar',
    baseline: 'prom-client observe, without',
    unit: '×',
    rounds: ratios(mine, theirs),
    goal: { is: 'at most', value: 0.35 },
    raw: { ns: median(mine), 'prom-client ns': median(theirs) },
  };
}

/** The longest time in which nothing else could run while a scrape was written, milliseconds. */
async function longestBlockMs(scrape: () => Promise<string>): Promise<number> {
  let longestMs = 0;
  let lastMs = performance.now();
  let goesOn = true;
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (goesOn) setImmediate(look);
  };
  look();
  await scrape();
  look();
  goesOn = false;
  return longestMs;
}

async function scraping(rounds: number, series: number): Promise<Figure> {
  const perSet = DEFINITION.buckets.length + 3;
  const sets = labelSets(Math.ceil(series / perSet));
  const ours = new Histogram(DEFINITION, sets.length + 2, () => {});
  const registry = new ExpositionRegistry('openmetrics', [ours]);
  const theirs = promHistogram();
  for (const set of sets) {
    ours.observe(set, 0.4, '4bf92f3577b34da6a3ce929d0e0e4736');
    theirs.histogram.observe(asObject(set), 0.4);
  }
  const [mine, others]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const one = await longestBlockMs(() => registry.metrics());
    const other = await longestBlockMs(() => theirs.registry.metrics());
    if (round === 0) continue;
    mine.push(one);
    others.push(other);
  }
  return {
    id: `metrics/scrape-${series}`,
    what: `scrape of ${series.toLocaleString('en')} series, longest block`,
    baseline: 'prom-client metrics()',
    unit: '×',
    rounds: ratios(mine, others),
    ...(series === 50_000 && { goal: { is: 'at most', value: 0.2 } }),
    raw: { series, 'block ms': median(mine), 'prom-client block ms': median(others) },
  };
}

/** A hundred times as many label sets as are allowed. */
async function flood(): Promise<Figure> {
  let folded = 0;
  const histogram = new Histogram(DEFINITION, MAX_LABEL_SETS, () => void folded++);
  for (const set of labelSets(100 * MAX_LABEL_SETS)) histogram.observe(set, 0.4);
  const text = await new ExpositionRegistry('text', [histogram]).metrics();
  const sets = text.split('\n').filter((line) => line.startsWith(`${DEFINITION.name}_count`)).length;
  return {
    id: 'metrics/flood',
    what: 'label sets after a flood of 100 × the cap',
    baseline: 'the cap',
    unit: '×',
    rounds: [sets / MAX_LABEL_SETS],
    goal: { is: 'at most', value: 1 },
    raw: { sets, folded },
  };
}

export async function metrics(world: World): Promise<Figure[]> {
  const figures = [observing(world.rounds)];
  for (const series of SIZES) figures.push(await scraping(world.rounds, series));
  return [...figures, await flood()];
}
