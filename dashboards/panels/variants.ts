import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import { ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import type { HistogramDefinition } from '../../contract/metrics.ts';
import { METRICS } from '../../contract/metrics.ts';
import { filteredBy, variableMatchers } from '../queries/matchers.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { curveQuery } from '../queries/prometheusQuery.ts';
import { quantile } from '../queries/quantile.ts';
import { VARIANT_DIMENSIONS } from '../queries/variantStreams.ts';
import { settingsSql, variantCompletionSql, variantHistorySql, variantsSql } from '../queries/variants.ts';
import { READING_SECONDS, SECONDS_THRESHOLDS, VARIANT_VERDICT_MS } from '../rules/thresholds.ts';
import { bars } from './bars.ts';
import { curves, withThresholdLines } from './curves.ts';
import type { StatText } from './figureStat.ts';
import { OF_A_SAMPLE } from './sampleText.ts';
import { countColumn, table } from './tables.ts';

const { ttft, slowTtft, tpot } = VARIANT_VERDICT_MS;
const PERCENT = [
  { id: 'unit', value: 'percentunit' },
  { id: 'decimals', value: 1 },
];

export function verdict() {
  return figures(
    {
      title: 'Which variant to serve',
      unit: 'ms',
      description:
        `Both figures of both variants, and what they say together: client TTFT p95 over ${ttft} ms, keep the variant that is slower to quantise; over ${slowTtft} ms with a TPOT p90 over ` +
        `${tpot} ms, quantise only with a faster KV load. Good: "both figures are good". If a variant has fewer than 100 streams, wait. A smaller TTFT with fewer completed answers is no gain. Beyond three hours it is of whole hours, from the rollups ` +
        `(within 1 %), or where the variables narrow it of a sample of each hour.`,
    },
    variantsSql(),
  ).overrideByName('verdict', [{ id: 'custom.width', value: 320 }]);
}

export function settings() {
  return figures(
    {
      title: 'By quantisation, decoding and temperature',
      unit: 'ms',
      description:
        'The same figures by how the answer was generated, as the server reported it. Good: rows of one variant alike. If one decoding has a longer TPOT at the same TTFT, it is the sampler; ' +
        'if high temperatures end early, users do not like what they read. Rows of few streams say little. ' +
        OF_A_SAMPLE,
    },
    settingsSql(),
  );
}

function figures(text: StatText, sql: string) {
  const panel = table(text, new PostgresQuery(sql)).overrideByName('completed', PERCENT);
  return countColumn(panel, 'streams');
}

/** p50 and the tail of both variants, four curves. */
function both(text: StatText, metric: HistogramDefinition, tail: number, tailName: string) {
  const matchers = (variable: string) =>
    [variableMatchers(metric, VARIANT_DIMENSIONS), `variant="$${variable}"`].filter(Boolean).join(', ');
  const of = (share: number, variable: string) => quantile(metric, share, { matchers: matchers(variable) });
  return curves(
    text,
    curveQuery('A', of(0.5, 'variant_a'), 'A p50'),
    curveQuery('B', of(tail, 'variant_a'), `A ${tailName}`),
    curveQuery('C', of(0.5, 'variant_b'), 'B p50'),
    curveQuery('D', of(tail, 'variant_b'), `B ${tailName}`),
  );
}

export function variantTtft() {
  const panel = both(
    {
      title: 'TTFT, server, A and B',
      unit: 's',
      description:
        `Time to first token of both variants, by the server's account. ${filteredBy(METRICS.ttft, VARIANT_DIMENSIONS)} Good: under 0.5 s and close to each other. If the quantised one is slower to its ` +
        'first token, unpacking or a cold cache eats what it gains per token; read this beside the TPOT at the right, never alone.',
    },
    METRICS.ttft,
    0.95,
    'p95',
  );
  return withThresholdLines(panel, SECONDS_THRESHOLDS.ttft_p95);
}

export function variantTpot() {
  const { paceFrom, paceTo, stuttersFrom } = READING_SECONDS;
  const panel = both(
    {
      title: 'TPOT, A and B, with the band of a reader',
      unit: 's',
      description:
        `Time per output token of both variants. ${filteredBy(METRICS.tpot, VARIANT_DIMENSIONS)} Good: below the blue band of ${paceFrom * 1000} to ${paceTo * 1000} ms, which is the pace of a reader: whoever is faster ` +
        `gains nothing more by it. If it is over ${stuttersFrom * 1000} ms (red), the text stutters. Below the band, spend what you have on TTFT.`,
    },
    METRICS.tpot,
    0.9,
    'p90',
  );
  return panel
    .thresholds(
      new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
        { color: 'transparent', value: null },
        { color: 'blue', value: paceFrom },
        { color: 'orange', value: paceTo },
        { color: 'red', value: stuttersFrom },
      ]),
    )
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Area));
}

export function variantCompletion() {
  return bars(
    {
      title: 'Completion by TTFT, A and B',
      unit: 'percentunit',
      description:
        'Share of the ended streams that were read to their end, by the band of their client TTFT, from the rollups: whole hours, and not filtered by the variables but the two variants. ' +
        'Good: equal bars in each band. If a variant loses at the same wait, it is not its speed that readers leave for.',
    },
    new PostgresQuery(variantCompletionSql()),
    'ttft',
  )
    .min(0)
    .max(1)
    .noValue('no streams');
}

export function variantHistory() {
  return curves(
    {
      title: 'Client TTFT p95 by hour, A and B',
      unit: 'ms',
      description:
        'The p95 of each hour, from the rollups (within 1 %), which are kept for 90 days: choose a range of weeks. Filtered by model, route and tier. Good: two flat lines. If they part ' +
        'at a blue mark, a deployment changed one of them; if they part at busy hours only, one of them does not bear load.',
    },
    new PostgresQuery(variantHistorySql()),
  );
}
