import { neverEmpty } from './neverEmpty.ts';
import { pickedSql } from './picks.ts';
import { IN_DAYS, LOG_ID, TRACE_ID, without } from './requestsFilter.ts';

/** Points that a browser still draws smoothly. */
const MAX_POINTS = 2000;
/** Characters that one token of a prompt stands for where only tokens are known. */
const CHARACTERS_PER_TOKEN = 4;
/** The colour of a request whose length nobody reported: a number, since the chart cannot colour a null. */
export const UNKNOWN_LENGTH = -1;

/** Both coordinates are known, and neither a proxy nor a machine that slept has spoilt them. */
const MEASURED = `ttft_ms IS NOT NULL AND tpot_ms IS NOT NULL AND ${without('coalesced', 'suspended')}`;

/** The newest streams of a short range, of a long one a sample of each hour: client TTFT against TPOT, both in milliseconds, with the prompt's length in characters. */
export function ttftTpotSql(): string {
  return neverEmpty(`SELECT ttft_ms, tpot_ms,
  coalesce(prompt_chars, prompt_tokens * ${CHARACTERS_PER_TOKEN}::bigint, ${UNKNOWN_LENGTH}) AS prompt_chars,
  model, route, region, device::text AS device, output_tokens,
  ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
FROM requests JOIN (
  ${pickedSql({ pick: 'sample', limit: MAX_POINTS, more: MEASURED, shortOrder: 'started_at DESC' })}
) AS picked USING (trace_id, day)
WHERE ${IN_DAYS}
    AND ${MEASURED}
ORDER BY started_at DESC
LIMIT ${MAX_POINTS}`);
}
