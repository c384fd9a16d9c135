import { reference } from '../variables/reference.ts';
import { inScope, LOG_ID, labelOf, TRACE_ID, without } from './requestsFilter.ts';

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** Names of the hour columns, `00` to `23`. */
export const HOUR_COLUMNS: readonly string[] = HOURS;

/**
 * Client TTFT p95 in milliseconds: one row per region and device, one column per hour of the day in the viewer's time zone, and
 * the slowest request of each row, so that a cell leads to evidence.
 *
 * Each hour's percentile is taken once and then turned into its column, and the slowest request is looked up by its TTFT:
 * twenty-four percentiles over every group, and sorting ids along, take several times as long.
 */
export function clientTtftByHourSql(): string {
  const columns = HOURS.map((hour) => `    max(p95) FILTER (WHERE hour = ${Number(hour)}) AS "${hour}"`);
  return `WITH seen AS (
  SELECT ${labelOf('region')} AS region,
    ${labelOf('device')} AS device,
    extract(hour FROM started_at AT TIME ZONE '${reference('__timezone')}')::smallint AS hour,
    ttft_ms, trace_id, trace_ref
  FROM requests
  WHERE ${inScope()}
    AND ttft_ms IS NOT NULL
    AND ${without('suspended')}
), hours AS (
  SELECT region, device, hour, count(*) AS requests, max(ttft_ms) AS ttft_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY ttft_ms) AS p95
  FROM seen
  GROUP BY region, device, hour
), cells AS (
  SELECT region, device,
${columns.join(',\n')},
    sum(requests)::bigint AS requests, max(ttft_ms) AS ttft_ms
  FROM hours
  GROUP BY region, device
), slowest AS (
  SELECT DISTINCT ON (region, device) region, device, ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
  FROM seen JOIN cells USING (region, device, ttft_ms)
)
SELECT region || ' / ' || device AS "region / device",
  ${HOURS.map((hour) => `"${hour}"`).join(', ')},
  requests, trace_id, log_id
FROM cells JOIN slowest USING (region, device)
ORDER BY 1`;
}
