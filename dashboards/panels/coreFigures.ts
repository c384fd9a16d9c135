import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { requestLinks } from '../links/requestLinks.ts';
import { longestGapSql } from '../queries/longestGap.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { requestCountSql } from '../queries/requestCount.ts';
import { RATIO_THRESHOLDS, SECONDS_THRESHOLDS } from '../rules/thresholds.ts';
import { figureStat, numberStat } from './figureStat.ts';
import { noThresholds, thresholdSteps } from './thresholdSteps.ts';

export function ttftP95(): PanelBuilder {
  return figureStat('ttft_p95', {
    title: 'TTFT p95',
    unit: 's',
    description:
      'Server time to first token that 95 % of the requests stay within, over the time range. ' +
      'Filtered by model, route, variant and tier. ' +
      'Good: under 0.75 s. Over 1 s an alert fires: look in the waterfall below for the stage that grew, and in the heatmap for when it began.',
  }).thresholds(thresholdSteps(SECONDS_THRESHOLDS.ttft_p95));
}

export function tpotP90(): PanelBuilder {
  return figureStat('tpot_p90', {
    title: 'TPOT p90',
    unit: 's',
    description:
      'Time per output token after the first, as 90 % of the streams see it or better. ' +
      'Filtered by model, route, variant, tier and device. ' +
      'Good: under 0.11 s; beyond 0.25 s the stream is slower than a reader. If it is worse on all devices, look at batch size and ' +
      'load of the engine; if on one, at its network and rendering.',
  }).thresholds(thresholdSteps(SECONDS_THRESHOLDS.tpot_p90));
}

export function ttftOver1sRatio(): PanelBuilder {
  return figureStat('ttft_over_1s_ratio', {
    title: 'TTFT over 1 s',
    unit: 'percentunit',
    description:
      'Share of the requests whose server time to first token is over 1 s. Filtered by model, route, variant and tier. ' +
      'Good: under 5 %, beyond which the p95 is over 1 s too; over 10 % an alert of its own fires. A high share with a low p50 points at a queue or at long prompts: compare colours in the scatter.',
  }).thresholds(thresholdSteps(RATIO_THRESHOLDS.ttft_over_1s_ratio));
}

export function tpotStddev(): PanelBuilder {
  return figureStat('tpot_stddev', {
    title: 'Unsteadiness p95',
    unit: 's',
    description:
      'tpot_stddev: standard deviation of the gaps of one stream, the value that 95 % of the streams stay within. Filtered by model and ' +
      'device. Good: under 0.01 s, text flows. Above 0.015 s it comes in bursts and an alert fires: look for proxies that buffer, for preemption in the engine, ' +
      'and for streams that share a batch with long prompts.',
  }).thresholds(thresholdSteps(SECONDS_THRESHOLDS.tpot_stddev));
}

export function streamGapMax(): PanelBuilder {
  return figureStat('stream_gap_max', {
    title: 'Longest gap p99',
    unit: 's',
    description:
      'stream_gap_max: longest pause within one stream, the value that 99 % of the streams stay within. Filtered by model and device. ' +
      'Good: under 0.4 s, from where a pause is felt. Beyond 2 s users believe it hung: open the stream with the longest gap, two panels to the right.',
  }).thresholds(thresholdSteps(SECONDS_THRESHOLDS.stream_gap_max));
}

export function ttftP999(): PanelBuilder {
  return figureStat('ttft_p999', {
    title: 'TTFT p99.9',
    unit: 's',
    description:
      'Server time to first token of the slowest thousandth. Filtered by model, route, variant and tier. It shows what a p95 hides, and is only as ' +
      'good as the traffic: under 1,000 requests it is near the maximum. Good: under 2 s. Beyond 5 s read the ten slowest requests below one by one.',
  }).thresholds(thresholdSteps(SECONDS_THRESHOLDS.ttft_p999));
}

export function longestGap(): PanelBuilder {
  return numberStat(
    {
      title: 'Longest gap',
      unit: 'ms',
      description:
        'The one longest pause of any stream in the time range, exact, from the stored requests; coalesced and suspended streams left out. ' +
        'Good: under 400 ms. Click it for the trace, the log lines and the record of that very stream.',
    },
    new PostgresQuery(longestGapSql()),
  )
    .thresholds(thresholdSteps(SECONDS_THRESHOLDS.stream_gap_max, 1000))
    .overrideByName('gap_max_ms', [{ id: 'links', value: requestLinks() }]);
}

export function requestCount(): PanelBuilder {
  return numberStat(
    {
      title: 'Requests',
      unit: 'short',
      description:
        'Requests that started in the time range and fit the variables, without those of machines that slept. It says how much the figures beside it rest on: a p95 of ' +
        'fewer than 100 requests is a handful of samples. If it is zero while users are served, check that the SDK or the middleware reaches the ingest.',
    },
    new PostgresQuery(requestCountSql()),
  ).thresholds(noThresholds());
}
