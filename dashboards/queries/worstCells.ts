import { HOUR_COLUMNS, hourOfDay } from './clientTtftByHour.ts';
import { rankedPercentile, rankedRollups } from './rankedRollups.ts';
import { rollupLabelOf } from './rollups.ts';

/** Below so many streams a cell's p95 is one or two of them. */
export const MIN_STREAMS_PER_CELL = 20;
const CELLS = 50;

export const WHERE_DIMENSIONS = ['model', 'region', 'device'] as const;

const RANKED = rankedRollups({
  grain: 'client',
  metrics: ['ttft_client'],
  by: {
    region: rollupLabelOf('region'),
    device: rollupLabelOf('device'),
    hour_of_day: hourOfDay('hour'),
  },
  variables: WHERE_DIMENSIONS,
});

/** Hour of the day in the viewer's time zone × region × device by client TTFT p95 in milliseconds, the worst first. */
export function worstCellsSql(): string {
  return `WITH ${RANKED}
SELECT to_char(hour_of_day, 'FM00') AS hour, region, device, max(total)::bigint AS streams,
  ${rankedPercentile(0.5)} AS p50, ${rankedPercentile(0.95)} AS p95
FROM ranked
GROUP BY hour_of_day, region, device
HAVING max(total) >= ${MIN_STREAMS_PER_CELL}
ORDER BY p95 DESC, hour_of_day, region, device
LIMIT ${CELLS}`;
}

/** The same as a table of 24 columns: a row per region and device, those with the worst hour first. */
export function worstHoursSql(): string {
  const columns = HOUR_COLUMNS.map((hour) => `max(p95) FILTER (WHERE hour_of_day = ${Number(hour)}) AS "${hour}"`);
  return `WITH ${RANKED}, cells AS (
  SELECT region, device, hour_of_day, max(total) AS streams, ${rankedPercentile(0.95)} AS p95
  FROM ranked
  GROUP BY region, device, hour_of_day
)
SELECT region, device,
  ${columns.join(',\n  ')},
  sum(streams)::bigint AS streams
FROM cells
GROUP BY region, device
ORDER BY max(p95) DESC, region, device`;
}
