import { METRICS } from '../../contract/metrics.ts';
import { FOREIGN_METRICS, type ForeignMetric } from '../foreignMetrics.ts';
import { IDLE_GPU_PERCENT, SECONDS_THRESHOLDS } from '../rules/thresholds.ts';
import { quantile, rateOf } from './quantile.ts';

const CHOSEN = 'backend=~"$backend"';
const BY = ['backend'] as const;

/** Mean of a gauge over the cards or engines of each backend. */
export function meanOf({ name }: ForeignMetric): string {
  return `avg by (backend) (${name}{${CHOSEN}})`;
}

/** Sum of a gauge over the engines of each backend. */
export function sumOf({ name }: ForeignMetric): string {
  return `sum by (backend) (${name}{${CHOSEN}})`;
}

/** The first of two expressions that has a series for a backend: engines differ, and versions rename. */
export function eitherOf(first: string, second: string): string {
  return `${first} or ${second}`;
}

/** Our server TTFT, 95th percentile in seconds. */
export function ttftByBackend(): string {
  return quantile(METRICS.ttft, 0.95, { matchers: CHOSEN, by: BY });
}

/** An engine's own TTFT, 95th percentile in seconds: from its queue on, without what lies before. */
export function engineTtft({ name }: ForeignMetric): string {
  return `histogram_quantile(0.95, sum by (le, backend) (${rateOf(`${name}_bucket`, { matchers: CHOSEN })})) >= 0`;
}

/** Share from 0 to 1 of the host's CPU time that is not idle. */
export function cpuUsage(): string {
  const { name } = FOREIGN_METRICS.cpuSeconds;
  const time = (matchers: string) => `sum by (backend) (${rateOf(name, { matchers })})`;
  return `1 - ${time(`${CHOSEN}, mode="idle"`)} / ${time(CHOSEN)}`;
}

/** Share from 0 to 1 of the prompt's tokens that vLLM's prefix cache held. */
export function vllmCacheHits(): string {
  const hits = rateOf(FOREIGN_METRICS.vllmPrefixHits.name, { matchers: CHOSEN });
  const queries = rateOf(FOREIGN_METRICS.vllmPrefixQueries.name, { matchers: CHOSEN });
  return `sum by (backend) (${hits}) / sum by (backend) (${queries}) >= 0`;
}

/** Backends whose users wait while their GPUs do not work, with their TTFT p95 in seconds. */
export function idleButSlow(): string {
  return `${ttftByBackend()} > ${SECONDS_THRESHOLDS.ttft_p95.bad} and on (backend) ${meanOf(FOREIGN_METRICS.gpuUtil)} < ${IDLE_GPU_PERCENT}`;
}
