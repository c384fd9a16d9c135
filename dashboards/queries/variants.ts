import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { TTFT_BANDS } from '../../contract/rollups.ts';
import { VARIANT_VERDICT_MS } from '../rules/thresholds.ts';
import { BAND_LABELS } from './completionByBand.ts';
import { LONG } from './picks.ts';
import { rankedPercentile, rankedRollups, rollupsByHour } from './rankedRollups.ts';
import { everyOptionChosen } from './requestsFilter.ts';
import { rollupConditions, rollupLabelOf } from './rollups.ts';
import {
  A,
  B,
  CHOSEN,
  FIGURES,
  streamFigures,
  streams,
  VARIANT_DIMENSIONS,
  VARIANT_ROLLUP_DIMENSIONS,
} from './variantStreams.ts';

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

/** The rollups by variant and its outcomes answer for whole hours of a long range that nothing narrows. */
const ROLLED_UP = `(${LONG} AND ${everyOptionChosen(...VARIANT_DIMENSIONS)})`;
const OF_THE_TWO = `(${rollupLabelOf('variant')}) IN (${A}, ${B})`;

/** The two variants, a row each: milliseconds, shares from 0 to 1, and what follows from TTFT and TPOT together. */
export function variantsSql(): string {
  const ranked = rankedRollups({
    grain: 'route',
    metrics: ['ttft_client', 'tpot', 'first_screen'],
    by: { variant: rollupLabelOf('variant'), metric: 'metric' },
    variables: [],
    more: OF_THE_TWO,
    when: ROLLED_UP,
  });
  const outcomes = rollupConditions({
    grain: 'outcome',
    metrics: ['requests'],
    variables: [],
    more: `${OF_THE_TWO} AND outcome NOT IN ('streaming', 'unknown')`,
    when: ROLLED_UP,
  });
  const of = (metric: string, share: number) => `max(p${share * 100}) FILTER (WHERE metric = '${metric}')`;
  return `WITH ${CHOSEN}, ${ranked}, rolled AS (
  SELECT variant, metric, ${[0.5, 0.9, 0.95].map((share) => `${rankedPercentile(share)} AS p${share * 100}`).join(', ')}
  FROM ranked
  GROUP BY variant, metric
), rolled_streams AS (
  SELECT ${rollupLabelOf('variant')} AS variant, sum(n)::bigint AS streams,
    (coalesce(sum(n) FILTER (WHERE outcome = 'complete'), 0) / nullif(sum(n), 0))::double precision AS completed
  FROM rollups
  WHERE ${outcomes}
  GROUP BY 1
  HAVING sum(n) > 0
), ${streams(`NOT ${ROLLED_UP}`)}, ${streamFigures(['variant'])}, both_ways AS (
  SELECT variant, ${FIGURES} FROM figures
  UNION ALL
  SELECT variant, streams, ${of('ttft_client', 0.5)}, ${of('ttft_client', 0.95)}, ${of('tpot', 0.5)}, ${of('tpot', 0.9)},
    ${of('first_screen', 0.5)}, completed
  FROM rolled_streams LEFT JOIN rolled USING (variant)
  GROUP BY variant, streams, completed
)
SELECT place || ': ' || variant AS variant, ${FIGURES},
  ${VERDICT} AS verdict
FROM both_ways JOIN chosen USING (variant)
ORDER BY place`;
}

/** The same figures by quantisation, decoding and band of temperature. */
export function settingsSql(): string {
  const settings = ['quantisation', 'decoding', 'temperature'];
  const columns = [
    `coalesce(quantization, '${UNKNOWN_LABEL}') AS quantisation`,
    `coalesce(decoding, '${UNKNOWN_LABEL}') AS decoding`,
    `CASE WHEN temperature IS NULL THEN '${UNKNOWN_LABEL}' WHEN temperature = 0 THEN '0' WHEN temperature <= 0.5 THEN 'up to 0.5'
    WHEN temperature <= 1 THEN '0.5 to 1' ELSE 'over 1' END AS temperature`,
  ];
  return `WITH ${CHOSEN}, ${streams('true', ...columns)}, ${streamFigures(['variant', ...settings])}
SELECT place || ': ' || variant AS variant, ${settings.join(', ')}, ${FIGURES}
FROM figures JOIN chosen USING (variant)
ORDER BY 1, streams DESC, 2, 3, 4
LIMIT 100`;
}

/** Share from 0 to 1 of the ended streams that were read to their end, by band of the client TTFT; whole hours, all models. */
export function variantCompletionSql(): string {
  const conditions = rollupConditions({
    grain: 'outcome',
    metrics: ['requests'],
    variables: [],
    more: `${OF_THE_TWO} AND outcome NOT IN ('streaming', 'unknown')`,
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
  const hours = rollupsByHour(
    {
      grain: 'route',
      metrics: ['ttft_client'],
      by: { time: 'hour', variant: rollupLabelOf('variant') },
      variables: VARIANT_ROLLUP_DIMENSIONS,
      more: OF_THE_TWO,
    },
    { p95: 0.95 },
  );
  const p95 = (of: string) => `max(p95) FILTER (WHERE variant = ${of})`;
  return `WITH ${hours}
SELECT time, ${p95(A)} AS variant_a, ${p95(B)} AS variant_b
FROM hours
GROUP BY time
ORDER BY time`;
}
