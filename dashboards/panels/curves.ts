import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  GraphGradientMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { Threshold } from '../rules/thresholds.ts';
import type { StatText } from './figureStat.ts';
import { noThresholds, thresholdSteps } from './thresholdSteps.ts';

/** Narrowest step of a rate: over shorter ones a percentile rests on a handful of requests. */
const MIN_STEP = '1m';

/** Curves over time, from zero. */
export function curves({ title, description, unit }: StatText, ...targets: Builder<Dataquery>[]): PanelBuilder {
  return new PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .min(0)
    .noValue('no data')
    .interval(MIN_STEP)
    .targets(targets)
    .lineWidth(1)
    .fillOpacity(0)
    .gradientMode(GraphGradientMode.None)
    .showPoints(VisibilityMode.Auto)
    .spanNulls(false)
    .thresholds(noThresholds())
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi));
}

/** Dashed lines where it turns from good to worth a look, and from that to bad. */
export function withThresholdLines(panel: PanelBuilder, threshold: Threshold): PanelBuilder {
  return panel
    .thresholds(thresholdSteps(threshold))
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
}

/** Areas on top of each other, whose sum is the whole. */
export function stacked(panel: PanelBuilder, mode: StackingMode = StackingMode.Normal): PanelBuilder {
  return panel.stacking(new StackingConfigBuilder().mode(mode).group('A')).fillOpacity(60).lineWidth(0);
}
