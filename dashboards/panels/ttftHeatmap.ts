import { HeatmapCellLayout, TooltipDisplayMode, VisibilityMode } from '@grafana/grafana-foundation-sdk/common';
import {
  CellValuesBuilder,
  FilterValueRangeBuilder,
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  HeatmapSelectionMode,
  HeatmapTooltipBuilder,
  PanelBuilder,
  RowsHeatmapOptionsBuilder,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { METRICS } from '../../contract/metrics.ts';
import { SCRAPE_INTERVAL_SECONDS } from '../config.ts';
import { variableMatchers } from '../queries/matchers.ts';
import { bucketsQuery } from '../queries/prometheusQuery.ts';

/** Every colour option is set: the builder starts from zeros, and a palette of zero steps is empty. */
function colour(): HeatmapColorOptionsBuilder {
  return new HeatmapColorOptionsBuilder()
    .mode(HeatmapColorMode.Scheme)
    .scheme('Oranges')
    .fill('dark-orange')
    .scale(HeatmapColorScale.Exponential)
    .exponent(0.5)
    .steps(64)
    .reverse(false);
}

/** Server TTFT over time by bucket. Columns are at least four scrapes wide, so that neighbouring columns do not overlap. */
export function ttftHeatmap(): PanelBuilder {
  const { name } = METRICS.ttft;
  const matchers = variableMatchers(METRICS.ttft);
  return new PanelBuilder()
    .title('TTFT over time')
    .description(
      'Server time to first token: each column a moment, each row a bucket, darker where more requests are. Filtered by model, route, ' +
        'variant and tier. Good: one dark band below 0.5 s. A second band above is a second kind of request (a queue, a cold cache, another model): narrow the ' +
        'variables until it stands alone. A band that climbs is load. Dots are single requests: click one for its trace.',
    )
    .interval(`${4 * SCRAPE_INTERVAL_SECONDS}s`)
    .withTarget(bucketsQuery(`sum by (le) (increase(${name}_bucket{${matchers}}[$__rate_interval]))`))
    .unit('s')
    .calculate(false)
    .cellGap(1)
    .cellValues(new CellValuesBuilder().unit('short'))
    .color(colour())
    .exemplarsColor('rgba(31, 120, 193, 0.9)')
    .filterValues(new FilterValueRangeBuilder().le(1e-9))
    .showLegend()
    .rowsFrame(new RowsHeatmapOptionsBuilder().layout(HeatmapCellLayout.Auto))
    .showValue(VisibilityMode.Never)
    .selectionMode(HeatmapSelectionMode.X)
    .tooltip(new HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).yHistogram(true).showColorScale(true))
    .yAxis(new YAxisConfigBuilder().unit('s').reverse(false));
}
