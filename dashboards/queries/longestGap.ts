import { inScope, LOG_ID, TRACE_ID, without } from './requestsFilter.ts';

/** The one longest gap in milliseconds, exact, with the ids of its stream. A histogram has no maximum. */
export function longestGapSql(): string {
  return `SELECT gap_max_ms, ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
FROM requests
WHERE ${inScope()}
    AND gap_max_ms IS NOT NULL
    AND ${without('coalesced', 'suspended')}
ORDER BY gap_max_ms DESC
LIMIT 1`;
}
