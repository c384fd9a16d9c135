import { neverEmpty } from './neverEmpty.ts';
import { inScope, LOG_ID, TRACE_ID, without } from './requestsFilter.ts';

/** Points that a browser still draws smoothly. */
const MAX_POINTS = 2000;
/** Characters that one token of a prompt stands for where only tokens are known. */
const CHARACTERS_PER_TOKEN = 4;
/** The colour of a request whose length nobody reported: a number, since the chart cannot colour a null. */
export const UNKNOWN_LENGTH = -1;

/** The newest streams in the time range: client TTFT against TPOT, both in milliseconds, with the prompt's length in characters. */
export function ttftTpotSql(): string {
  return neverEmpty(`SELECT ttft_ms, tpot_ms,
  coalesce(prompt_chars, prompt_tokens * ${CHARACTERS_PER_TOKEN}::bigint, ${UNKNOWN_LENGTH}) AS prompt_chars,
  model, route, region, device::text AS device, output_tokens,
  ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
FROM requests
WHERE ${inScope()}
    AND ttft_ms IS NOT NULL
    AND tpot_ms IS NOT NULL
    AND ${without('coalesced', 'suspended')}
ORDER BY started_at DESC
LIMIT ${MAX_POINTS}`);
}
