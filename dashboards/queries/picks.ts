import { PICKS_BEYOND_HOURS, REQUEST_PICKS, type RequestPick } from '../../contract/requestPicks.ts';
import { DIMENSIONS, type Dimension } from '../variables/dimensions.ts';
import { inScope } from './requestsFilter.ts';

/** Folded while the query is planned: one of two branches is never run. */
const LONG = `$__timeTo()::timestamptz - $__timeFrom()::timestamptz > interval '${PICKS_BEYOND_HOURS} hours'`;
const PICKED_BEFORE = '(SELECT picked_before FROM request_picks_progress)';

/** Of a long range, what no pick covers yet: an hour or two. The second condition is for the partitions. */
const NOT_PICKED = `(NOT (${LONG}) OR (started_at >= ${PICKED_BEFORE}
      AND day >= CASE WHEN ${PICKED_BEFORE} = '-infinity' THEN '-infinity' ELSE (${PICKED_BEFORE} AT TIME ZONE 'UTC')::date - 1 END))`;

export interface PickScope {
  readonly pick: RequestPick;
  readonly dimensions?: readonly Dimension[];
  /** Most requests of the result. */
  readonly limit: number;
  /** What else the panel asks of a request. It is asked again of what is found: a pick does not know it. */
  readonly more?: string;
  /** Order of a short range's requests; that of the pick by default. */
  readonly shortOrder?: string;
}

/**
 * A SELECT of the ids and days of requests: of a short range the first of all, of a long one the first among the picks of its closed hours
 * and all requests of the open ones. A long range therefore knows no more than the contract keeps of each hour.
 */
export function pickedSql({ pick, dimensions = DIMENSIONS, limit, more, shortOrder }: PickScope): string {
  const { where, order, perHour } = REQUEST_PICKS[pick];
  const scope = inScope(dimensions);
  // Of a sample, each open hour has as many as a closed one; of the others, the first of all are among the first of each part.
  const isSample = pick === 'sample';
  const openLimit = isSample ? `CASE WHEN ${LONG} THEN ${perHour} ELSE ${limit} END` : limit;
  const closedLimit = isSample ? limit - perHour : limit;
  const closedOrder = isSample ? 'place, hour' : order;
  return `(SELECT trace_id, day FROM requests
   WHERE ${scope}
    AND ${where}${more === undefined ? '' : `\n    AND ${more}`}
    AND ${NOT_PICKED}
   ORDER BY ${shortOrder ?? order} LIMIT ${openLimit})
  UNION
  (SELECT trace_id, day FROM request_picks
   WHERE ${LONG} AND pick = '${pick}'
    AND hour BETWEEN date_trunc('hour', $__timeFrom()::timestamptz) AND $__timeTo() AND hour < ${PICKED_BEFORE}
    AND ${scope}
   ORDER BY ${closedOrder} LIMIT ${closedLimit})`;
}
