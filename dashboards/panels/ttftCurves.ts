import { METRICS } from '../../contract/metrics.ts';
import { type Figure, figureExpression } from '../queries/figures.ts';
import { filteredBy, variableMatchers } from '../queries/matchers.ts';
import { curveQuery } from '../queries/prometheusQuery.ts';
import { quantileCurves } from '../queries/quantileCurves.ts';
import { RATIO_THRESHOLDS, SECONDS_THRESHOLDS } from '../rules/thresholds.ts';
import { curves, withThresholdLines } from './curves.ts';

const SHARES = [0.5, 0.95, 0.99, 0.999];

export function ttftServerCurves() {
  const panel = curves(
    {
      title: 'TTFT, server',
      unit: 's',
      description:
        `Time to first token by the server's own account. ${filteredBy(METRICS.ttft)} Good: p95 under 0.75 s, and p50 and p99 moving together. ` +
        'If p99 climbs alone, a kind of request suffers (a queue, long prompts): open Slow requests. If all climb, it is load or a deployment: ' +
        'look at the blue marks and at Stages.',
    },
    ...quantileCurves(METRICS.ttft, SHARES, { matchers: variableMatchers(METRICS.ttft) }),
  );
  return withThresholdLines(panel, SECONDS_THRESHOLDS.ttft_p95);
}

export function ttftClientCurves() {
  const metric = METRICS.ttftClient;
  const panel = curves(
    {
      title: 'TTFT, client',
      unit: 's',
      description:
        `Time to first token as browsers saw it. ${filteredBy(metric)} Good: p95 under 1 s, and close to the server's. If it climbs while the ` +
        'server stays, the time is lost on the way: see the hidden tax, and Where and when for the region.',
    },
    ...quantileCurves(metric, SHARES, { matchers: variableMatchers(metric) }),
  );
  return withThresholdLines(panel, SECONDS_THRESHOLDS.ttft_client_p95);
}

export function ttftOverRatios() {
  const share = (figure: Figure) =>
    `${figureExpression(figure, { window: '$__rate_interval', matchers: variableMatchers(METRICS.ttft) })} >= 0`;
  const panel = curves(
    {
      title: 'TTFT over 1 s and over 2 s',
      unit: 'percentunit',
      description:
        `Share of the requests that waited longer than 1 s and than 2 s at the server. ${filteredBy(METRICS.ttft)} Good: under 5 % and under 1 %. ` +
        'If the two lines meet, those who wait at all wait long: a queue that overflows or a backend that is lost, rather than general slowness.',
    },
    curveQuery('A', share('ttft_over_1s_ratio'), 'over 1 s'),
    curveQuery('B', share('ttft_over_2s_ratio'), 'over 2 s'),
  );
  return withThresholdLines(panel, RATIO_THRESHOLDS.ttft_over_1s_ratio);
}
