import { VizLegendOptionsBuilder, VizTooltipOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { FieldColorModeId, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  PanelBuilder,
  PointShape,
  SeriesMapping,
  XYSeriesConfigBuilder,
  XYShowMode,
} from '@grafana/grafana-foundation-sdk/xychart';
import { requestLinks } from '../links/requestLinks.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { ttftTpotSql, UNKNOWN_LENGTH } from '../queries/ttftTpot.ts';

/** Bands of the prompt's length in characters: unknown, under 50, 50 to 200, over 200. Colours that all eyes tell apart. */
const LENGTH_STEPS = [
  { color: '#8e8e8e', value: null },
  { color: '#56b4e9', value: UNKNOWN_LENGTH + 1 },
  { color: '#e69f00', value: 50 },
  { color: '#cc3399', value: 201 },
];

const byName = (options: string) => ({ matcher: { id: 'byName', options } });

/** Client TTFT against TPOT, a point per stream. */
export function ttftTpotScatter(): PanelBuilder {
  return new PanelBuilder()
    .title('TTFT against TPOT')
    .description(
      'Each point a finished stream, at most the newest 2,000: time to first token as the client saw it, against time per token. ' +
        'Colour is the length of the prompt: blue under 50 characters, orange 50 to 200, magenta over 200, grey unknown. Good: one ' +
        'cloud at the lower left. Far right with short prompts: waiting, not computing; look at queue and network. Far up: the engine ' +
        'is saturated. Magenta right of the rest is prefill. Click a point for its trace, logs and record.',
    )
    .withTarget(new PostgresQuery(ttftTpotSql()))
    .unit('ms')
    .mapping(SeriesMapping.Manual)
    .series([
      new XYSeriesConfigBuilder()
        .name({ fixed: 'streams' })
        // Manual mapping draws nothing unless frame, x and y are all matched.
        .frame({ matcher: { id: 'byIndex', options: 0 } })
        .x(byName('ttft_ms'))
        .y(byName('tpot_ms'))
        .color(byName('prompt_chars')),
    ])
    .legend(new VizLegendOptionsBuilder().showLegend(false))
    .tooltip(new VizTooltipOptionsBuilder())
    .show(XYShowMode.Points)
    .pointSize({ fixed: 6 })
    .pointShape(PointShape.Circle)
    .pointStrokeWidth(1)
    .fillOpacity(60)
    .overrideByName('ttft_ms', [{ id: 'custom.axisLabel', value: 'TTFT, client' }])
    .overrideByName('tpot_ms', [
      { id: 'custom.axisLabel', value: 'TPOT' },
      { id: 'links', value: requestLinks() },
    ])
    .overrideByName('prompt_chars', [
      { id: 'unit', value: 'short' },
      { id: 'color', value: { mode: FieldColorModeId.Thresholds } },
      { id: 'thresholds', value: { mode: ThresholdsMode.Absolute, steps: LENGTH_STEPS } },
    ])
    .overrideByName('output_tokens', [{ id: 'unit', value: 'short' }]);
}
