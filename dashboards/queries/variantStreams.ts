import type { Dimension } from '../variables/dimensions.ts';
import { reference } from '../variables/reference.ts';
import { sampledSql } from './picks.ts';
import { labelOf, without } from './requestsFilter.ts';
import { weightedFigures } from './weighted.ts';

/** Besides the two variants; what all of the dashboard's SQL and most of its metrics know. */
export const VARIANT_DIMENSIONS = ['model', 'route', 'tier', 'region', 'device'] as const satisfies Dimension[];
/** Of these, those of the rollups by variant. */
export const VARIANT_ROLLUP_DIMENSIONS = ['model', 'route', 'tier'] as const;

export const A = reference('variant_a:sqlstring');
export const B = reference('variant_b:sqlstring');

/** Pairs of a variant's place and its name; one line where both are the same. */
export const CHOSEN = `chosen AS (
  SELECT min(place) AS place, variant FROM (VALUES ('A', ${A}), ('B', ${B})) AS pair(place, variant) GROUP BY variant
)`;

/** Ended streams of the chosen variants; gaps and TPOT only of those that no proxy held back. */
export function streams(when: string, ...columns: string[]): string {
  const sampled = sampledSql({
    columns: [
      `${labelOf('variant')} AS variant`,
      ...columns,
      'ttft_ms',
      'first_screen_ms',
      `status = 'complete' AS complete`,
      `CASE WHEN ${without('coalesced')} THEN tpot_ms END AS tpot_ms`,
    ],
    dimensions: VARIANT_DIMENSIONS,
    more: `(${labelOf('variant')}) IN (${A}, ${B})
    AND status <> 'streaming'
    AND ${without('suspended')}
    AND ${when}`,
  });
  return `streams AS (
  ${sampled}
)`;
}

/** Common table expressions that end in `figures`, of each group of streams. */
export function streamFigures(keys: readonly string[]): string {
  return weightedFigures({
    source: 'streams',
    keys,
    values: ['ttft_ms', 'tpot_ms', 'first_screen_ms'],
    sums: {
      streams: 'round(sum(weight))::bigint',
      completed: 'coalesce(sum(weight) FILTER (WHERE complete), 0) / sum(weight)',
    },
    percentiles: {
      ttft_p50: ['ttft_ms', 0.5],
      ttft_p95: ['ttft_ms', 0.95],
      tpot_p50: ['tpot_ms', 0.5],
      tpot_p90: ['tpot_ms', 0.9],
      first_screen_p50: ['first_screen_ms', 0.5],
    },
  });
}

export const FIGURES = 'streams, ttft_p50, ttft_p95, tpot_p50, tpot_p90, first_screen_p50, completed';
