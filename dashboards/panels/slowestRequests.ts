import { TableCellDisplayMode, TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { requestLinks } from '../links/requestLinks.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { slowestRequestsSql } from '../queries/slowestRequests.ts';
import { noThresholds } from './thresholdSteps.ts';

const IDS = ['trace_id', 'log_id'];
const NAMES: readonly (readonly [column: string, name: string])[] = [
  ['started_at', 'started'],
  ['ttft_client', 'TTFT client'],
  ['ttft_server', 'TTFT server'],
  ['tpot', 'TPOT'],
  ['dominant_stage', 'largest part'],
  ['dominant_share', 'its share'],
  ['trace_id', 'trace'],
  ['log_id', 'id in logs'],
];

/** The bars of the waterfall above as rows, in the same order. */
export function slowestRequests(): PanelBuilder {
  const panel = new PanelBuilder()
    .title('The ten slowest, with their facts')
    .description(
      'The same ten requests as above, in the same order. Good: no pattern. A region, device or route that comes up again and again is who suffers; ' +
        'a large difference between client and server TTFT is time that the server cannot see. clock_anomaly: the two halves contradict ' +
        'each other, do not trust the split. Click a trace id for the trace, the log lines and the whole record.',
    )
    .withTarget(new PostgresQuery(slowestRequestsSql()))
    .unit('ms')
    .decimals(1)
    .noValue('-')
    .thresholds(noThresholds())
    .showHeader(true)
    .cellHeight(TableCellHeight.Sm)
    .cellOptions({ type: TableCellDisplayMode.Auto })
    .overrideByName('dominant_share', [
      { id: 'unit', value: 'percentunit' },
      { id: 'decimals', value: 0 },
    ]);
  for (const [column, name] of NAMES) panel.overrideByName(column, [{ id: 'displayName', value: name }]);
  for (const column of IDS) panel.overrideByName(column, [{ id: 'links', value: requestLinks() }]);
  return panel;
}
