import { StackingMode } from '@grafana/grafana-foundation-sdk/common';
import { METRICS } from '../../contract/metrics.ts';
import { STAGES, type Stage } from '../../contract/stages.ts';
import { requestLinks } from '../links/requestLinks.ts';
import { filteredBy, variableMatchers } from '../queries/matchers.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { curveQuery } from '../queries/prometheusQuery.ts';
import { quantileCurves } from '../queries/quantileCurves.ts';
import {
  inferenceShare,
  queueAndBatchSql,
  STAGE_DIMENSIONS,
  stageSummarySql,
  subStageSummarySql,
  timeByStage,
} from '../queries/stages.ts';
import { bars, inStageColours } from './bars.ts';
import { curves, stacked } from './curves.ts';
import { points } from './points.ts';
import { OF_A_SAMPLE } from './sampleText.ts';
import { STAGE_TEXTS } from './stageTexts.ts';
import { countColumn, table } from './tables.ts';

const metric = METRICS.stageDuration;
const FILTERED = filteredBy(metric, STAGE_DIMENSIONS);

export function stageShares() {
  const panel = curves(
    {
      title: 'Share of each stage',
      unit: 's',
      description:
        `Where the time before the first token goes: each stage's part of all of it, as areas of one whole. ${FILTERED} Good: first_token is the widest band. If another ` +
        'band widens, open its panel below, whose description says what usually causes it and how easily it is mended. gateway and network are counted when a request settles.',
    },
    curveQuery('A', timeByStage(), '{{stage}}'),
  );
  return inStageColours(stacked(panel, StackingMode.Percent), STAGES);
}

export function inference() {
  const { inference: model, rest } = inferenceShare();
  const panel = curves(
    {
      title: 'Model against the rest',
      unit: 'percentunit',
      description:
        `Share of the server's stages that the model computes, against all that is done around it. ${FILTERED} Good: the model has more than half. If the rest has, ` +
        'a faster GPU or model will not help: most of the wait is preparation, cache and queue, and those are the cheaper ones to mend.',
    },
    curveQuery('A', model, 'model inference'),
    curveQuery('B', rest, 'the rest'),
  );
  return stacked(panel).max(1);
}

/** One panel per stage, with advice. */
export function stageCurves(stage: Stage) {
  const matchers = `${variableMatchers(metric, STAGE_DIMENSIONS)}, stage="${stage}"`;
  return curves(
    { title: stage, unit: 's', description: `${STAGE_TEXTS[stage]} ${FILTERED}` },
    ...quantileCurves(metric, [0.5, 0.95, 0.99], { matchers }),
  );
}

export function stageSummary() {
  const panel = table(
    {
      title: 'All stages',
      unit: 'ms',
      description:
        'Percentiles of every stage over the whole hours of the time range, from the rollups (within 1 %), and its share of the time before the first token. Good: first_token ' +
        'first by share. If unattributed is large, stamps are missing. Percentiles do not add up to that of the whole. Hours are kept for 90 days.',
    },
    new PostgresQuery(stageSummarySql()),
  )
    .decimals(1)
    .overrideByName('share', [
      { id: 'unit', value: 'percentunit' },
      { id: 'decimals', value: 0 },
    ]);
  return countColumn(panel, 'requests');
}

export function queueAndBatch() {
  return points(
    {
      title: 'Queue against batch size',
      unit: 'ms',
      description:
        "The engine's queue of each request against the batch it was computed in, at most 2,000: the newest, or beyond three hours some of each hour. Good: low everywhere. If the queue is long at full batches, capacity " +
        'is missing; if it is long at small ones, the scheduler waits to fill a batch, or something else holds the slots. Click a point for the request.',
    },
    new PostgresQuery(queueAndBatchSql()),
    { x: 'batch_size', y: 'queue' },
  )
    .overrideByName('batch_size', [
      { id: 'unit', value: 'short' },
      { id: 'custom.axisLabel', value: 'requests in the batch' },
    ])
    .overrideByName('queue', [{ id: 'links', value: requestLinks() }]);
}

export function subStageSummary() {
  const panel = bars(
    {
      title: 'Sub-stages',
      unit: 'ms',
      description:
        'Named pieces of work inside the server, such as db, retrieval or moderation; first the one that takes the most time in total. Good: no p95 above 100 ms. If a median is ' +
        'small and its p95 large, look at the slow ones in the logs; if both are large, run it beside the others or from a cache. ' +
        OF_A_SAMPLE,
    },
    new PostgresQuery(subStageSummarySql()),
    'name',
  ).noValue('none reported');
  // A number of requests is no bar of milliseconds.
  return panel.overrideByName('requests', [
    { id: 'unit', value: 'short' },
    { id: 'custom.hideFrom', value: { viz: true, legend: true, tooltip: false } },
  ]);
}
