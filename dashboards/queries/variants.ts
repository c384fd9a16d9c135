import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { TTFT_BANDS } from '../../contract/rollups.ts';
import { VARIANT_VERDICT_MS } from '../rules/thresholds.ts';
import type { Dimension } from '../variables/dimensions.ts';
import { reference } from '../variables/reference.ts';
import { BAND_LABELS } from './completionByBand.ts';
import { inScope, labelOf, without } from './requestsFilter.ts';
import { rankedPercentile, rankedRollups, rollupConditions, rollupLabelOf } from './rollups.ts';

/** Besides the two variants; what all of the dashboard's SQL and most of its metrics know. */
export const VARIANT_DIMENSIONS = ['model', 'route', 'tier', 'region', 'device'] as const satisfies Dimension[];
/** Of these, those of the rollups by variant. */
export const VARIANT_ROLLUP_DIMENSIONS = ['model', 'route', 'tier'] as const;

const A = reference('variant_a:sqlstring');
const B = reference('variant_b:sqlstring');

/** Pairs of a variant's place and its name; one line where both are the same. */
const CHOSEN = `chosen AS (
  SELECT min(place) AS place, variant FROM (VALUES ('A', ${A}), ('B', ${B})) AS pair(place, variant) GROUP BY variant
)`;

/** Streams of the chosen variants; gaps and TPOT only of those that no proxy held back. */
const STREAMS = `streams AS (
  SELECT ${labelOf('variant')} AS variant, quantization, decoding, temperature, ttft_ms, first_screen_ms, status,
    CASE WHEN ${without('coalesced')} THEN tpot_ms END AS tpot_ms
  FROM requests
  WHERE ${inScope(VARIANT_DIMENSIONS)}
    AND (${labelOf('variant')}) IN (${A}, ${B})
    AND status <> 'streaming'
    AND ${without('suspended')}
)`;

const percentile = (share: number, column: string) => `percentile_cont(${share}) WITHIN GROUP (ORDER BY ${column})`;

const FIGURES = `count(*) AS streams,
    ${percentile(0.5, 'ttft_ms')} AS ttft_p50,
    ${percentile(0.95, 'ttft_ms')} AS ttft_p95,
    ${percentile(0.5, 'tpot_ms')} AS tpot_p50,
    ${percentile(0.9, 'tpot_ms')} AS tpot_p90,
    ${percentile(0.5, 'first_screen_ms')} AS first_screen_p50,
    (count(*) FILTER (WHERE status = 'complete'))::double precision / count(*) AS completed`;

const { ttft, slowTtft, tpot } = VARIANT_VERDICT_MS;

/** What the two figures say together. Neither alone decides: quantising buys TPOT and may cost TTFT. */
export const VERDICTS = {
  unknown: 'not enough is known',
  fasterLoad: 'quantise only with a faster KV load',
  keep: 'keep the variant that is slower to quantise',
  quantise: 'quantising pays: only the pace is slow',
  either: 'both figures are good',
} as const;

const VERDICT = `CASE
    WHEN ttft_p95 IS NULL OR tpot_p90 IS NULL THEN '${VERDICTS.unknown}'
    WHEN ttft_p95 > ${slowTtft} AND tpot_p90 > ${tpot} THEN '${VERDICTS.fasterLoad}'
    WHEN ttft_p95 > ${ttft} THEN '${VERDICTS.keep}'
    WHEN tpot_p90 > ${tpot} THEN '${VERDICTS.quantise}'
    ELSE '${VERDICTS.either}'
  END`;

/** The two variants, a row each: milliseconds, shares from 0 to 1, and what follows from TTFT and TPOT together. */
export function variantsSql(): string {
  return `WITH ${CHOSEN}, ${STREAMS}, summed AS (
  SELECT variant, ${FIGURES}
  FROM streams
  GROUP BY variant
)
SELECT place || ': ' || variant AS variant, streams, ttft_p50, ttft_p95, tpot_p50, tpot_p90, first_screen_p50, completed,
  ${VERDICT} AS verdict
FROM summed JOIN chosen USING (variant)
ORDER BY place`;
}

/** The same figures by quantisation, decoding and band of temperature. */
export function settingsSql(): string {
  return `WITH ${CHOSEN}, ${STREAMS}
SELECT place || ': ' || variant AS variant,
  coalesce(quantization, '${UNKNOWN_LABEL}') AS quantisation,
  coalesce(decoding, '${UNKNOWN_LABEL}') AS decoding,
  CASE WHEN temperature IS NULL THEN '${UNKNOWN_LABEL}' WHEN temperature = 0 THEN '0' WHEN temperature <= 0.5 THEN 'up to 0.5'
    WHEN temperature <= 1 THEN '0.5 to 1' ELSE 'over 1' END AS temperature,
    ${FIGURES}
FROM streams JOIN chosen USING (variant)
GROUP BY 1, 2, 3, 4
ORDER BY 1, streams DESC, 2, 3, 4
LIMIT 100`;
}

/** Share from 0 to 1 of the ended streams that were read to their end, by band of the client TTFT; whole hours, all models. */
export function variantCompletionSql(): string {
  const conditions = rollupConditions({
    grain: 'outcome',
    metric: 'requests',
    variables: [],
    more: `(${rollupLabelOf('variant')}) IN (${A}, ${B}) AND outcome NOT IN ('streaming', 'unknown')`,
  });
  const bands = TTFT_BANDS.map(({ name }, position) => `('${name}', '${BAND_LABELS[position]}', ${position})`);
  const completed = (of: string) =>
    `(sum(n) FILTER (WHERE variant = ${of} AND outcome = 'complete') / nullif(sum(n) FILTER (WHERE variant = ${of}), 0))::double precision`;
  return `WITH counted AS (
  SELECT ${rollupLabelOf('variant')} AS variant, outcome, ttft_band, n
  FROM rollups
  WHERE ${conditions}
)
SELECT label AS ttft, ${completed(A)} AS variant_a, ${completed(B)} AS variant_b
FROM counted JOIN (VALUES ${bands.join(', ')}) AS bands(ttft_band, label, position) USING (ttft_band)
GROUP BY label, position
HAVING sum(n) > 0
ORDER BY position`;
}

/** Client TTFT p95 in milliseconds by hour of the chosen variants, from the rollups. */
export function variantHistorySql(): string {
  const ranked = rankedRollups({
    grain: 'route',
    metric: 'ttft_client',
    by: { time: 'hour', variant: rollupLabelOf('variant') },
    variables: VARIANT_ROLLUP_DIMENSIONS,
    more: `(${rollupLabelOf('variant')}) IN (${A}, ${B})`,
  });
  const p95 = (of: string) => `max(p95) FILTER (WHERE variant = ${of})`;
  return `WITH ${ranked}, hours AS (
  SELECT time, variant, ${rankedPercentile(0.95)} AS p95
  FROM ranked
  GROUP BY time, variant
)
SELECT time, ${p95(A)} AS variant_a, ${p95(B)} AS variant_b
FROM hours
GROUP BY time
ORDER BY time`;
}
