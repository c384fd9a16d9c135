import { SERVER_STAGES } from '../../contract/stages.ts';
import { pickedSql } from './picks.ts';
import { IN_DAYS, LOG_ID, TRACE_ID } from './requestsFilter.ts';

/**
 * The parts whose sum is the client TTFT, in the order of the bar. `render` comes after it. `unattributed` stands beside the
 * server's stages, since it is the server's time.
 */
export const WATERFALL_PARTS = ['gateway', ...SERVER_STAGES, 'unattributed', 'network'] as const;

export type WaterfallPart = (typeof WATERFALL_PARTS)[number];

const REQUESTS = 10;

/**
 * The slowest joined requests by client TTFT, with their largest part. A machine that slept is no slow request. Waterfall and
 * table are made from the same text, so that they show the same ten.
 */
function slowest(): string {
  const parts = WATERFALL_PARTS.map((part, index) => `('${part}', ${index}, ${part}_ns)`);
  return `WITH slowest AS (
  SELECT requests.*, ${TRACE_ID} AS id, ${LOG_ID} AS log_id
  FROM requests JOIN (
  ${pickedSql({ pick: 'slowest', limit: REQUESTS })}
  ) AS picked USING (trace_id, day)
  WHERE ${IN_DAYS}
  ORDER BY ttft_ms DESC, trace_id
  LIMIT ${REQUESTS}
), explained AS (
  SELECT slowest.*, dominant.part AS dominant_part, dominant.duration_ns AS dominant_ns
  FROM slowest LEFT JOIN LATERAL (
    SELECT part, duration_ns
    FROM (VALUES ${parts.join(', ')}) AS parts(part, position, duration_ns)
    WHERE duration_ns IS NOT NULL
    ORDER BY duration_ns DESC, position
    LIMIT 1
  ) AS dominant ON true
)`;
}

/** One row per request, one number column per part (milliseconds, null where nobody reported it), and the ids as text. */
export function attributionWaterfallSql(): string {
  const columns = WATERFALL_PARTS.map((part) => `  ${part}_ns / 1e6::double precision AS ${part}`);
  return `${slowest()}
SELECT concat(left(id, 8), ' ', coalesce(model, 'unknown'), ': ', coalesce(dominant_part, 'nothing known')) AS request,
${columns.join(',\n')},
  id AS trace_id, log_id
FROM explained
ORDER BY ttft_ms DESC, explained.trace_id`;
}

/** The same requests as rows of facts; times in milliseconds, the dominant share of the client TTFT from 0 to 1. */
export function slowestRequestsSql(): string {
  return `${slowest()}
SELECT started_at, model, route, region, device::text AS device,
  ttft_ms AS ttft_client,
  server_ttft_ns / 1e6::double precision AS ttft_server,
  tpot_ms AS tpot,
  dominant_part AS dominant_stage,
  dominant_ns / nullif(ttft_ms * 1e6, 0) AS dominant_share,
  array_to_string(flag_names(flags), ', ') AS flags,
  status::text AS status,
  id AS trace_id, log_id
FROM explained
ORDER BY ttft_ms DESC, explained.trace_id`;
}
