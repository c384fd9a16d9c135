import { reference } from '../variables/reference.ts';
import { inScope, LOG_ID, labelOf, TRACE_ID, without } from './requestsFilter.ts';

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** Names of the hour columns, `00` to `23`. */
export const HOUR_COLUMNS: readonly string[] = HOURS;

/**
 * Client TTFT p95 in milliseconds: one row per region and device, one column per hour of the day in the viewer's time zone, and
 * the slowest request of each row, so that a cell leads to evidence.
 */
export function clientTtftByHourSql(): string {
  const cells = HOURS.map(
    (hour) =>
      `  percentile_cont(0.95) WITHIN GROUP (ORDER BY ttft_ms) FILTER (WHERE hour = ${Number(hour)}) AS "${hour}"`,
  );
  return `SELECT region || ' / ' || device AS "region / device",
${cells.join(',\n')},
  count(*) AS requests,
  (array_agg(trace_id ORDER BY ttft_ms DESC))[1] AS trace_id,
  (array_agg(log_id ORDER BY ttft_ms DESC))[1] AS log_id
FROM (
  SELECT ${labelOf('region')} AS region,
    ${labelOf('device')} AS device,
    extract(hour FROM started_at AT TIME ZONE '${reference('__timezone')}') AS hour,
    ttft_ms, ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
  FROM requests
  WHERE ${inScope()}
    AND ttft_ms IS NOT NULL
    AND ${without('suspended')}
) AS seen
GROUP BY region, device
ORDER BY 1`;
}
