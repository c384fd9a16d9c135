import { TTFT_BANDS } from '../../contract/rollups.ts';
import { inScope, without } from './requestsFilter.ts';

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

const LABEL = `(ARRAY[${BAND_LABELS.map((label) => `'${label}'`).join(', ')}])[band + 1]`;

/** Share from 0 to 1 of the ended streams that were read to their end, by the band of their client TTFT; the label has their number. */
export function completionByBandSql(): string {
  return `SELECT concat(${LABEL}, ' (', count(*), ')') AS ttft,
  (count(*) FILTER (WHERE status = 'complete'))::double precision / count(*) AS completed
FROM (
  SELECT ${BAND} AS band, status
  FROM requests
  WHERE ${inScope()}
    AND ttft_ms IS NOT NULL
    AND status <> 'streaming'
    AND ${without('suspended')}
) AS ended
GROUP BY band
ORDER BY band`;
}
