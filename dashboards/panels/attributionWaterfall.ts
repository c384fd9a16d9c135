import { PanelBuilder } from '@grafana/grafana-foundation-sdk/barchart';
import {
  GraphGradientMode,
  StackingMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { requestLinks } from '../links/requestLinks.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { attributionWaterfallSql, WATERFALL_PARTS } from '../queries/slowestRequests.ts';
import { STAGE_COLOURS } from './stageColours.ts';

/** Room for eight digits, a model's name and the dominant stage. */
const LABEL_CHARACTERS = 48;

/** The ten slowest joined requests, each a bar of its parts; the bar's length is the client TTFT. */
export function attributionWaterfall(): PanelBuilder {
  const panel = new PanelBuilder()
    .title('Why the ten slowest were late')
    .description(
      'The slowest requests of which both the client and the server reported: each bar is the client TTFT, cut into its parts in the order ' +
        'they happen; network, which cannot be placed, comes last. The label names the largest. Good: first_token is the largest part of every ' +
        'bar. queue: add capacity or limit batches. kv_load: cache misses. network or gateway: not the model; compare regions. unattributed: ' +
        'the server is missing stamps. Requests of machines that slept are left out. Click a bar for trace, logs and record.',
    )
    .withTarget(new PostgresQuery(attributionWaterfallSql()))
    .unit('ms')
    .noValue('no joined requests')
    .xField('request')
    .orientation(VizOrientation.Horizontal)
    .stacking(StackingMode.Normal)
    .showValue(VisibilityMode.Never)
    .barWidth(0.9)
    .groupWidth(0.8)
    .xTickLabelMaxLength(LABEL_CHARACTERS)
    .legend(new VizLegendOptionsBuilder().showLegend(true))
    .tooltip(new VizTooltipOptionsBuilder())
    .lineWidth(0)
    .fillOpacity(85)
    .gradientMode(GraphGradientMode.None)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .overrideByFieldType('number', [{ id: 'links', value: requestLinks() }]);
  for (const part of WATERFALL_PARTS) {
    const color = { mode: FieldColorModeId.Fixed, fixedColor: STAGE_COLOURS[part] };
    panel.overrideByName(part, [{ id: 'color', value: color }]);
  }
  return panel;
}
