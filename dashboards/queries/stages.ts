import { METRICS } from '../../contract/metrics.ts';
import { ROLLUP_STAGES } from '../../contract/rollups.ts';
import { SERVER_TTFT_STAGES } from '../../contract/stages.ts';
import { variableMatchers } from './matchers.ts';
import { neverEmpty } from './neverEmpty.ts';
import { pickedSql, sampledSql } from './picks.ts';
import { rateOf } from './quantile.ts';
import { rankedPercentile, rankedRollups } from './rankedRollups.ts';
import { IN_DAYS, LOG_ID, TRACE_ID } from './requestsFilter.ts';
import { weightedFigures } from './weighted.ts';

export const STAGE_DIMENSIONS = ['model'] as const;

const MAX_POINTS = 2000;
const metric = METRICS.stageDuration;
const OF_THE_MODEL = variableMatchers(metric, STAGE_DIMENSIONS);
/** Painting comes after the first token. */
const BEFORE_THE_TOKEN = 'stage!="render"';

const sumOf = (matchers: string, by = '') =>
  `sum${by} (${rateOf(`${metric.name}_sum`, { matchers: `${OF_THE_MODEL}, ${matchers}` })})`;

/** Seconds that requests spend in each stage per second, of which a panel makes shares. */
export function timeByStage(): string {
  return sumOf(BEFORE_THE_TOKEN, ' by (stage)');
}

/** Share of the server's stages that is the model at work, and that is all the rest; from 0 to 1. */
export function inferenceShare(): { readonly inference: string; readonly rest: string } {
  const all = sumOf(`stage=~"${SERVER_TTFT_STAGES.join('|')}"`);
  const rest = sumOf(`stage=~"${SERVER_TTFT_STAGES.filter((stage) => stage !== 'first_token').join('|')}"`);
  return { inference: `${sumOf('stage="first_token"')} / ${all} >= 0`, rest: `${rest} / ${all} >= 0` };
}

/** Every stage over whole hours, from the rollups: milliseconds, and its share from 0 to 1 of the time before the first token. */
export function stageSummarySql(): string {
  const ranked = rankedRollups({
    grain: 'stage',
    metrics: ['stage_duration'],
    by: { stage: 'stage' },
    variables: STAGE_DIMENSIONS,
  });
  const order = ROLLUP_STAGES.map((stage, position) => `('${stage}', ${position})`).join(', ');
  return `WITH ${ranked}, times AS (
  SELECT stage, sum(value_ms * n) AS spent FROM counted GROUP BY stage
), summed AS (
  SELECT stage, max(total)::bigint AS requests,
    ${rankedPercentile(0.5)} AS p50, ${rankedPercentile(0.95)} AS p95, ${rankedPercentile(0.99)} AS p99
  FROM ranked
  GROUP BY stage
)
SELECT stage, requests, p50, p95, p99,
  CASE WHEN stage <> 'render' THEN (spent / nullif(sum(spent) FILTER (WHERE stage <> 'render') OVER (), 0))::double precision END AS share
FROM summed JOIN times USING (stage) JOIN (VALUES ${order}) AS stages(stage, position) USING (stage)
ORDER BY position`;
}

const QUEUED = 'batch_size IS NOT NULL AND queue_ns IS NOT NULL';

/** The engine's queue in milliseconds against the size of its batch: the newest of a short range, of a long one a sample of each hour. */
export function queueAndBatchSql(): string {
  const picked = pickedSql({
    pick: 'sample',
    dimensions: STAGE_DIMENSIONS,
    limit: MAX_POINTS,
    more: QUEUED,
    shortOrder: 'started_at DESC',
  });
  return neverEmpty(`SELECT batch_size, queue_ns / 1e6::double precision AS queue,
  first_token_ns / 1e6::double precision AS first_token,
  ${TRACE_ID} AS trace_id, ${LOG_ID} AS log_id
FROM requests JOIN (
  ${picked}
) AS picked USING (trace_id, day)
WHERE ${IN_DAYS}
    AND ${QUEUED}
ORDER BY started_at DESC
LIMIT ${MAX_POINTS}`);
}

/** Named pieces of work inside the server: how often, how long in milliseconds, the one that takes the most time first. */
export function subStageSummarySql(): string {
  const requests = sampledSql({
    columns: ['sub_stages_ns'],
    dimensions: STAGE_DIMENSIONS,
    more: 'sub_stages_ns IS NOT NULL',
  });
  const figures = weightedFigures({
    source: 'parts',
    keys: ['name'],
    values: ['duration_ms'],
    sums: { requests: 'round(sum(weight))::bigint', spent: 'sum(duration_ms * weight)' },
    percentiles: { p50: ['duration_ms', 0.5], p95: ['duration_ms', 0.95] },
  });
  return `WITH parts AS (
  SELECT part.key AS name, part.value::bigint / 1e6::double precision AS duration_ms, weight
  FROM (
  ${requests}
  ) AS sampled CROSS JOIN LATERAL jsonb_each_text(sub_stages_ns) AS part
), ${figures}
SELECT name, requests, p50, p95
FROM figures
ORDER BY spent DESC, name
LIMIT 50`;
}
