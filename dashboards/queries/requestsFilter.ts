import { FLAG_BITS, type Flag } from '../../contract/flags.ts';
import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { DIMENSIONS, type Dimension } from '../variables/dimensions.ts';
import { optionsSql } from '../variables/options.ts';
import { reference } from '../variables/reference.ts';

/**
 * Bounds of `requests`: the dashboard's time range by start, and by `day` so that partitions are pruned.
 *
 * A row's day is that of its receipt in UTC. A start is believed up to 5 minutes after its receipt and 24 hours before it, and
 * halves that waited on disk for the database come later still: hence one day before and two after. The literal is cast with
 * `::timestamptz` right beside it, which PostgreSQL folds while parsing, so that pruning happens in the planner.
 */
const DAYS = `BETWEEN ($__timeFrom()::timestamptz AT TIME ZONE 'UTC')::date - 1
                AND ($__timeTo()::timestamptz AT TIME ZONE 'UTC')::date + 2`;
const IN_TIME_RANGE = `$__timeFilter(started_at)
    AND day ${DAYS}`;

/** The days alone, where the table is joined by ids and the planner shall know the partitions beforehand. */
export const IN_DAYS = `requests.day ${DAYS}`;

/** Conditions of a WHERE on `requests`: the time range and the variables that the dashboard offers. */
export function inScope(dimensions: readonly Dimension[] = DIMENSIONS): string {
  return [IN_TIME_RANGE, ...dimensions.map(isChosen)].join('\n    AND ');
}

/** Whether every option is chosen is asked once; only if not, each row has to say which one it is, which takes as long as reading it. */
export function isChosen(dimension: Dimension): string {
  return `(${everyOptionChosen(dimension)} OR (${labelOf(dimension)}) IN (${reference(`${dimension}:sqlstring`)}))`;
}

/** A condition that no row decides: PostgreSQL asks it once, and starts no scan of which it is the whole answer. */
export function everyOptionChosen(...dimensions: readonly Dimension[]): string {
  const each = dimensions.map(
    (dimension) =>
      `NOT EXISTS (SELECT FROM (${optionsSql(dimension)}) AS options WHERE value NOT IN (${reference(`${dimension}:sqlstring`)}))`,
  );
  return each.join(' AND ');
}

/** The label value under which the metrics count a row: what was named, `unknown`, or `other` beyond the cap. */
export function labelOf(dimension: Dimension): string {
  if (dimension === 'device') return `coalesce(device::text, '${UNKNOWN_LABEL}')`;
  const accepted = `${dimension} IN (SELECT value FROM label_values WHERE label = '${dimension}')`;
  return `CASE WHEN ${dimension} IS NULL THEN '${UNKNOWN_LABEL}' WHEN ${accepted} THEN ${dimension} ELSE '${OTHER_LABEL}' END`;
}

/** Leaves out rows that carry any of the flags. */
export function without(...flags: readonly Flag[]): string {
  const bits = flags.reduce((sum, flag) => sum | FLAG_BITS[flag], 0);
  return `flags & ${bits} = 0`;
}

/** The key as logs and traces spell it. */
export const TRACE_ID = `replace(trace_id::text, '-', '')`;

/**
 * The id as the logs may spell it. It becomes part of a URL that Grafana decodes more than once, so a spelling with other
 * characters than these is replaced by the key.
 */
export const LOG_ID = `CASE WHEN trace_ref ~ '^[A-Za-z0-9_.:@=-]+$' THEN trace_ref ELSE ${TRACE_ID} END`;
