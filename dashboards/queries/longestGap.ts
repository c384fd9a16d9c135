import { pickedSql } from './picks.ts';
import { IN_DAYS, LOG_ID, TRACE_ID } from './requestsFilter.ts';

/** The one longest gap in milliseconds, exact, with the ids of its stream. A histogram has no maximum. */
export function longestGapSql(): string {
  return `SELECT gap_max_ms, ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
FROM requests JOIN (
  ${pickedSql({ pick: 'longest_gap', limit: 1 })}
) AS picked USING (trace_id, day)
WHERE ${IN_DAYS}
ORDER BY gap_max_ms DESC
LIMIT 1`;
}
