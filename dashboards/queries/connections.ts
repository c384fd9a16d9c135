import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import type { Dimension } from '../variables/dimensions.ts';
import { inScope, without } from './requestsFilter.ts';

/** Client TTFT in milliseconds by the client's kind of connection; the label has the number of streams. */
export function connectionsSql(dimensions: readonly Dimension[]): string {
  return `SELECT concat(connection, ' (', streams, ')') AS connection, p50, p95
FROM (
  SELECT coalesce(connection::text, '${UNKNOWN_LABEL}') AS connection, count(*) AS streams,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY ttft_ms) AS p50,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY ttft_ms) AS p95
  FROM requests
  WHERE ${inScope(dimensions)}
    AND ttft_ms IS NOT NULL
    AND ${without('suspended')}
  GROUP BY 1
) AS kinds
ORDER BY p95 DESC, 1`;
}
