import { LONG } from './picks.ts';
import { everyOptionChosen, inScope, without } from './requestsFilter.ts';
import { cellConditions } from './rollups.ts';

/** Bounds of the whole hours in a long range: hours of the rollups, whatever the zone of the session. */
const FIRST_HOUR = `date_trunc('hour', $__timeFrom()::timestamptz - interval '1 microsecond', 'UTC') + interval '1 hour'`;
const LAST_HOUR = `date_trunc('hour', $__timeTo()::timestamptz, 'UTC')`;

const ROLLED_UP = `${LONG} AND ${everyOptionChosen('model', 'route', 'tier', 'region', 'device')}`;

/**
 * Requests that started in the time range, whichever halves they have. Whole hours of a long range are in the rollups by variant; what is
 * left of it at both ends, and everything where it is narrowed by more, is counted.
 */
export function requestCountSql(): string {
  const wholeHours = cellConditions({ grain: 'outcome', metrics: ['requests'], variables: ['variant'] }).join(
    '\n    AND ',
  );
  return `WITH asked AS MATERIALIZED (
  SELECT ${ROLLED_UP} AS rolled_up
)
SELECT sum(n)::bigint AS requests
FROM (
  SELECT count(*) AS n FROM requests
  WHERE ${inScope()}
    AND ${without('suspended')}
    AND NOT (SELECT rolled_up FROM asked)
  UNION ALL
  SELECT count(*) FROM requests
  WHERE ${inScope(['variant'])}
    AND ${without('suspended')}
    AND (started_at < ${FIRST_HOUR} OR started_at >= ${LAST_HOUR})
    AND (SELECT rolled_up FROM asked)
  UNION ALL
  SELECT sum(n) FROM rollups
  WHERE hour >= ${FIRST_HOUR} AND hour < ${LAST_HOUR}
    AND ${wholeHours}
    AND (SELECT rolled_up FROM asked)
) AS parts`;
}
