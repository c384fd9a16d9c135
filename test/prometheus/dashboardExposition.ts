import { formatLe, METRICS } from '../../contract/metrics.ts';
import { STAGES } from '../../contract/stages.ts';
import { FOREIGN_METRICS, type ForeignMetric } from '../../dashboards/foreignMetrics.ts';

/**
 * What the test's target serves: every metric of the catalogue and of other programs, all histograms with the same distribution, so that
 * expected values can be worked out by hand.
 */
export const VALUES = {
  model: ['llama-3.1', "o'brien"],
  route: ['/api/chat?a=(b)'],
  tier: ['vip'],
  variant: ['fp16', 'int4'],
  backend: ['gpu-01', 'gpu-02'],
  region: ['eu'],
  device: ['mobile'],
  stage: [...STAGES],
  status: ['complete', 'aborted'],
  kind: ['beacon'],
  reason: ['malformed_json'],
  source: ['direct'],
  client: ['yes'],
  server: ['direct', 'none'],
  metric: ['ttft_seconds'],
  label: ['model'],
  mode: ['idle', 'user'],
  gpu: ['0'],
  cpu: ['0'],
} as const satisfies Record<string, readonly string[]>;

/** Samples that each scrape adds to each series of a histogram. */
export const PER_SCRAPE = 100;

/** Of these, so many are within a bound: even up to 1, then to the next edge. */
export const atMost = (bound: number): number => Math.min(PER_SCRAPE, Math.round(bound * 90));

/** What a gauge always is. */
export const GAUGES: Readonly<Record<string, number>> = {
  [FOREIGN_METRICS.gpuUtil.name]: 25,
  [FOREIGN_METRICS.engineActive.name]: 0.2,
  [FOREIGN_METRICS.vllmCacheUsage.name]: 0.5,
  [FOREIGN_METRICS.sglangTokenUsage.name]: 0.75,
  [FOREIGN_METRICS.sglangCacheHits.name]: 0.6,
};
const ANY_GAUGE = 12.5;
/** What each scrape adds to a counter whose labels say this. */
const ANY_COUNT = 90;
const COUNTS: Readonly<Record<string, number>> = { none: 10, idle: 30 };

/** Prometheus makes these itself; the old name of the cache's usage is not served by an engine that has the new one. */
const NOT_SERVED: readonly string[] = [
  FOREIGN_METRICS.up.name,
  FOREIGN_METRICS.alerts.name,
  FOREIGN_METRICS.vllmCacheUsageOld.name,
];

const TTFT_LIKE = METRICS.ttft.buckets;

export function exposition(scrapes: number): string {
  const ours = Object.values(METRICS).map((metric) => family(metric, metric.labels, scrapes));
  const foreign = Object.values(FOREIGN_METRICS)
    .filter(({ name }) => !NOT_SERVED.includes(name))
    .map((metric: ForeignMetric) => {
      // Prometheus adds the job; hosts of GPUs have their backend.
      const inIngest = metric.labels.includes('job');
      return family(metric, inIngest ? [] : ['backend', ...metric.labels], scrapes);
    });
  return [...ours, ...foreign].flat().join('\n').concat('\n');
}

interface Served {
  readonly name: string;
  readonly type: string;
  readonly buckets?: readonly number[];
}

function family({ name, type, buckets = TTFT_LIKE }: Served, labels: readonly string[], scrapes: number): string[] {
  const lines = [`# TYPE ${name} ${type}`];
  for (const set of labelSets(labels)) {
    const text = set.map(([label, value]) => `${label}="${value}"`).join(',');
    if (type === 'gauge') lines.push(`${name}{${text}} ${GAUGES[name] ?? ANY_GAUGE}`);
    if (type === 'counter') {
      const step = set.map(([, value]) => COUNTS[value]).find((count) => count !== undefined) ?? ANY_COUNT;
      lines.push(`${name}{${text}} ${step * scrapes}`);
    }
    if (type !== 'histogram') continue;
    for (const bound of [...buckets, Number.POSITIVE_INFINITY]) {
      lines.push(`${name}_bucket{${text ? `${text},` : ''}le="${formatLe(bound)}"} ${atMost(bound) * scrapes}`);
    }
    lines.push(`${name}_sum{${text}} ${50 * scrapes}`, `${name}_count{${text}} ${PER_SCRAPE * scrapes}`);
  }
  return lines;
}

/** Every combination of the labels' values. */
function labelSets(labels: readonly string[]): [string, string][][] {
  return labels.reduce<[string, string][][]>(
    (sets, label) =>
      sets.flatMap((set) =>
        VALUES[label as keyof typeof VALUES].map((value): [string, string][] => [...set, [label, value]]),
      ),
    [[]],
  );
}

/** The quantile that Prometheus must find: linear inside the bucket of the distribution above. */
export function expectedQuantile(share: number, buckets: readonly number[]): number {
  const rank = share * PER_SCRAPE;
  const index = buckets.findIndex((bound) => atMost(bound) >= rank);
  // Above the last finite bound Prometheus answers with that bound.
  if (index === -1) return buckets.at(-1) ?? Number.NaN;
  const below = index === 0 ? 0 : (buckets[index - 1] as number);
  const upper = buckets[index] as number;
  const countBelow = index === 0 ? 0 : atMost(below);
  return below + ((upper - below) * (rank - countBelow)) / (atMost(upper) - countBelow);
}
