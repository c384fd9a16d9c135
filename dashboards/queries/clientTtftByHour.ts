import type { Dimension } from '../variables/dimensions.ts';
import { reference } from '../variables/reference.ts';
import { LONG, PICKED_HOURS } from './picks.ts';
import { rankedPercentile, rankedRollups } from './rankedRollups.ts';
import { everyOptionChosen, IN_DAYS, inScope, LOG_ID, labelOf, TRACE_ID, without } from './requestsFilter.ts';
import { rollupLabelOf } from './rollups.ts';

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** Names of the hour columns, `00` to `23`. */
export const HOUR_COLUMNS: readonly string[] = HOURS;

/** The hour of the day in the viewer's time zone. */
export const hourOfDay = (time: string): string =>
  `extract(hour FROM ${time} AT TIME ZONE '${reference('__timezone')}')::smallint`;

const OF_THE_ROLLUPS = ['model', 'region', 'device'] as const satisfies Dimension[];
const ROLLED_UP = `${LONG} AND ${everyOptionChosen('route', 'variant', 'tier')}`;

/**
 * Client TTFT p95 in milliseconds: one row per region and device, one column per hour of the day in the viewer's time zone, and
 * the slowest request of each row, so that a cell leads to evidence. A long range that is not narrowed by what the rollups by region and
 * device do not know is read from these, and its slowest requests from the picks.
 *
 * Each hour's percentile is taken once and then turned into its column, and the slowest request is looked up by its TTFT:
 * twenty-four percentiles over every group, and sorting ids along, take several times as long.
 */
export function clientTtftByHourSql(): string {
  const columns = HOURS.map((hour) => `    max(p95) FILTER (WHERE hour = ${Number(hour)}) AS "${hour}"`);
  const ranked = rankedRollups({
    grain: 'client',
    metrics: ['ttft_client'],
    by: { region: rollupLabelOf('region'), device: rollupLabelOf('device'), hour_of_day: hourOfDay('hour') },
    variables: OF_THE_ROLLUPS,
    when: `(${ROLLED_UP})`,
  });
  return `WITH ${ranked}, seen AS (
  SELECT ${labelOf('region')} AS region,
    ${labelOf('device')} AS device,
    ${hourOfDay('started_at')} AS hour,
    ttft_ms, trace_id, trace_ref
  FROM requests
  WHERE ${inScope()}
    AND ttft_ms IS NOT NULL
    AND ${without('suspended')}
    AND NOT (${ROLLED_UP})
), hours AS (
  SELECT region, device, hour, count(*) AS requests, max(ttft_ms) AS ttft_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY ttft_ms) AS p95
  FROM seen
  GROUP BY region, device, hour
  UNION ALL
  SELECT region, device, hour_of_day, max(total), NULL, ${rankedPercentile(0.95)}
  FROM ranked
  GROUP BY region, device, hour_of_day
), cells AS (
  SELECT region, device,
${columns.join(',\n')},
    sum(requests)::bigint AS requests, max(ttft_ms) AS ttft_ms
  FROM hours
  GROUP BY region, device
), picked AS (
  SELECT DISTINCT ON (region, device) region, device, trace_id, day
  FROM (
    SELECT ${labelOf('region')} AS region, ${labelOf('device')} AS device, ttft_ms, trace_id, day
    FROM request_picks
    WHERE pick = 'slowest' AND ${PICKED_HOURS}
    AND ${inScope(OF_THE_ROLLUPS)}
    AND ${ROLLED_UP}
  ) AS labelled
  ORDER BY region, device, ttft_ms DESC
), slowest AS (
  (SELECT DISTINCT ON (region, device) region, device, ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
  FROM seen JOIN cells USING (region, device, ttft_ms))
  UNION ALL
  SELECT picked.region, picked.device, ${TRACE_ID}, ${LOG_ID}
  FROM picked JOIN requests USING (trace_id, day)
  WHERE ${IN_DAYS}
)
SELECT region || ' / ' || device AS "region / device",
  ${HOURS.map((hour) => `"${hour}"`).join(', ')},
  requests, trace_id, log_id
FROM cells LEFT JOIN slowest USING (region, device)
ORDER BY 1`;
}
