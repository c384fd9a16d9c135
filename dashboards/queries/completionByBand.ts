import { TTFT_BANDS } from '../../contract/rollups.ts';
import { LONG } from './picks.ts';
import { everyOptionChosen, inScope, without } from './requestsFilter.ts';
import { rollupConditions } from './rollups.ts';

/** Names of the bands for people, in their order. */
export const BAND_LABELS: readonly string[] = TTFT_BANDS.map(({ limitMs }, index) => {
  const lowerMs = TTFT_BANDS[index - 1]?.limitMs;
  if (lowerMs === undefined) return `up to ${limitMs} ms`;
  return Number.isFinite(limitMs) ? `${lowerMs} to ${limitMs} ms` : `over ${lowerMs} ms`;
});

/** Position of a client TTFT's band, from 0 on. */
const BAND = `CASE ${TTFT_BANDS.slice(0, -1)
  .map(({ limitMs }, index) => `WHEN ttft_ms <= ${limitMs} THEN ${index}`)
  .join(' ')} ELSE ${TTFT_BANDS.length - 1} END`;
const BAND_OF_CELL = `array_position(ARRAY[${TTFT_BANDS.map(({ name }) => `'${name}'`).join(', ')}], ttft_band) - 1`;

const LABEL = `(ARRAY[${BAND_LABELS.map((label) => `'${label}'`).join(', ')}])[band + 1]`;

const ROLLED_UP = `${LONG} AND ${everyOptionChosen('model', 'route', 'tier', 'region', 'device')}`;

/**
 * Share from 0 to 1 of the ended streams that were read to their end, by the band of their client TTFT; the label has their number. The
 * rollups know the variant only: they answer for whole hours of a long range where nothing else is narrowed.
 */
export function completionByBandSql(): string {
  const cells = rollupConditions({
    grain: 'outcome',
    metrics: ['requests'],
    variables: ['variant'],
    more: `outcome NOT IN ('streaming', 'unknown') AND ttft_band <> 'unknown'`,
  });
  return `WITH asked AS MATERIALIZED (
  SELECT ${ROLLED_UP} AS rolled_up
)
SELECT concat(${LABEL}, ' (', sum(n), ')') AS ttft,
  (coalesce(sum(n) FILTER (WHERE complete), 0) / sum(n))::double precision AS completed
FROM (
  SELECT ${BAND} AS band, status = 'complete' AS complete, count(*) AS n
  FROM requests
  WHERE ${inScope()}
    AND ttft_ms IS NOT NULL
    AND status <> 'streaming'
    AND ${without('suspended')}
    AND NOT (SELECT rolled_up FROM asked)
  GROUP BY band, complete
  UNION ALL
  SELECT ${BAND_OF_CELL}, outcome = 'complete', n
  FROM rollups
  WHERE ${cells}
    AND (SELECT rolled_up FROM asked)
) AS ended
GROUP BY band
HAVING sum(n) > 0
ORDER BY band`;
}
