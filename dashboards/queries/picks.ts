import { PICKS_BEYOND_HOURS, REQUEST_PICKS, type RequestPick } from '../../contract/requestPicks.ts';
import { DIMENSIONS, type Dimension } from '../variables/dimensions.ts';
import { inScope } from './requestsFilter.ts';

/** Folded while the query is planned: one of two branches is never run. */
export const LONG = `$__timeTo()::timestamptz - $__timeFrom()::timestamptz > interval '${PICKS_BEYOND_HOURS} hours'`;
export const PICKED_BEFORE = '(SELECT picked_before FROM request_picks_progress)';

/** Of a long range, what no pick covers yet: an hour or two. The second condition is for the partitions. */
const NOT_PICKED = `(NOT (${LONG}) OR (started_at >= ${PICKED_BEFORE}
      AND day >= CASE WHEN ${PICKED_BEFORE} = '-infinity' THEN '-infinity' ELSE (${PICKED_BEFORE} AT TIME ZONE 'UTC')::date - 1 END))`;

/** Hours of a long range of which there are picks. */
export const PICKED_HOURS = `${LONG}
    AND hour BETWEEN date_trunc('hour', $__timeFrom()::timestamptz) AND $__timeTo() AND hour < ${PICKED_BEFORE}`;

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
   WHERE pick = '${pick}' AND ${PICKED_HOURS}
    AND ${scope}
   ORDER BY ${closedOrder} LIMIT ${closedLimit})`;
}

export interface SampleScope {
  /** Columns of the result, each by its SQL on a request; only on what the sample keeps. */
  readonly columns: readonly string[];
  readonly dimensions: readonly Dimension[];
  readonly more: string;
}

/** Requests of a sample that are weighed within a glance; hours of a range of more than three days give fewer each. */
const WEIGHED_AT_MOST = 15_000;
const RANGE_HOURS =
  '(extract(epoch FROM $__timeTo()::timestamptz - $__timeFrom()::timestamptz) / 3600)::double precision';
const { perHour: SAMPLED } = REQUEST_PICKS.sample;
/** Of the places of an hour's sample the first, folded while the query is planned. */
const PLACES = `least(${SAMPLED}, ceil(${WEIGHED_AT_MOST} / ${RANGE_HOURS}))`;
/** An hour of fewer requests than the sample has room for gives all. */
const CLOSED_WEIGHT = `CASE WHEN stands_for > 1 THEN stands_for * ${SAMPLED} / ${PLACES} ELSE 1 END`;

/** How many requests one of an open hour stands for: of a short range itself, of a long one as many as in the last closed hour. */
const OPEN_WEIGHT = `(SELECT CASE WHEN ${LONG} THEN coalesce(max(${CLOSED_WEIGHT}), 1) ELSE 1 END FROM request_picks
    WHERE pick = 'sample' AND hour = ${PICKED_BEFORE} - interval '1 hour')`;

/**
 * A SELECT of requests with how many each stands for (`weight`): of a short range all of them, of a long one the sample of its closed hours,
 * and of the open ones those that will be in it.
 */
export function sampledSql({ columns, dimensions, more }: SampleScope): string {
  const conditions = `${inScope(dimensions)}
    AND ${more}`;
  return `SELECT ${columns.join(', ')}, ${OPEN_WEIGHT} AS weight
  FROM requests
  WHERE uuid_hash(trace_id) < 4294967296 / ${OPEN_WEIGHT} - 2147483648
    AND ${conditions}
    AND ${NOT_PICKED}
  UNION ALL
  SELECT ${columns.join(', ')}, ${CLOSED_WEIGHT}
  FROM request_picks
  WHERE pick = 'sample' AND ${PICKED_HOURS}
    AND (place <= ${PLACES} OR stands_for = 1)
    AND ${conditions}`;
}
