import { StackingMode } from '@grafana/grafana-foundation-sdk/common';
import { requestLinks } from '../links/requestLinks.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { attributionWaterfallSql, WATERFALL_PARTS } from '../queries/slowestRequests.ts';
import { bars, inStageColours } from './bars.ts';
import type { StatText } from './figureStat.ts';

/** The ten slowest joined requests, each a bar of its parts; the bar's length is the client TTFT. */
export function attributionWaterfall() {
  return tenBars(
    {
      title: 'Why the ten slowest were late',
      unit: 'ms',
      description:
        'The slowest requests of which both the client and the server reported: each bar is the client TTFT, cut into its parts in the order ' +
        'they happen; network, which cannot be placed, comes last. The label names the largest. Good: first_token is the largest part of every ' +
        'bar. queue: add capacity or limit batches. kv_load: cache misses. network or gateway: not the model; compare regions. unattributed: ' +
        'the server is missing stamps. Requests of machines that slept are left out. Click a bar for the request, its trace and its logs.',
    },
    StackingMode.Normal,
  );
}

/** The same bars, all of one length. */
export function attributionShares() {
  return tenBars(
    {
      title: 'What part of the wait each stage was',
      unit: 'ms',
      description:
        'The same ten requests, each drawn over the whole width: what share of its client TTFT each part took; the label names the largest. Good: no ' +
        'colour but that of first_token covers half of a bar. If one colour leads in most bars, the ten share a cause and mending that stage mends ' +
        'them all; if every bar leads with another, they are accidents. The numbers are still milliseconds.',
    },
    StackingMode.Percent,
  );
}

function tenBars(text: StatText, stacking: StackingMode) {
  const panel = bars(text, new PostgresQuery(attributionWaterfallSql()), 'request', stacking);
  return inStageColours(panel, WATERFALL_PARTS)
    .noValue('no joined requests')
    .overrideByFieldType('number', [{ id: 'links', value: requestLinks() }]);
}
