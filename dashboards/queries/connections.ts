import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import type { Dimension } from '../variables/dimensions.ts';
import { sampledSql } from './picks.ts';
import { without } from './requestsFilter.ts';
import { weightedFigures } from './weighted.ts';

/** Client TTFT in milliseconds by the client's kind of connection; the label has the number of streams. */
export function connectionsSql(dimensions: readonly Dimension[]): string {
  const streams = sampledSql({
    columns: [`coalesce(connection::text, '${UNKNOWN_LABEL}') AS kind`, 'ttft_ms'],
    dimensions,
    more: `ttft_ms IS NOT NULL
    AND ${without('suspended')}`,
  });
  const figures = weightedFigures({
    source: 'streams',
    keys: ['kind'],
    values: ['ttft_ms'],
    sums: { streams: 'round(sum(weight))' },
    percentiles: { p50: ['ttft_ms', 0.5], p95: ['ttft_ms', 0.95] },
  });
  return `WITH streams AS (
  ${streams}
), ${figures}
SELECT concat(kind, ' (', streams, ')') AS connection, p50, p95
FROM figures
ORDER BY p95 DESC, 1`;
}
