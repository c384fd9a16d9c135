import { PanelBuilder } from '@grafana/grafana-foundation-sdk/barchart';
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  GraphGradientMode,
  StackingMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  FieldColorBuilder,
  FieldColorModeId,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { StatText } from './figureStat.ts';
import { STAGE_COLOURS } from './stageColours.ts';

/** Room for eight digits, a model's name and the dominant stage. */
const LABEL_CHARACTERS = 48;

/** A bar per row; every number column is a bar or, stacked, a part of it. `label` is the text column that names the rows. */
export function bars(
  { title, description, unit }: StatText,
  target: Builder<Dataquery>,
  label: string,
  stacking: StackingMode = StackingMode.None,
): PanelBuilder {
  return new PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .withTarget(target)
    .xField(label)
    .orientation(VizOrientation.Horizontal)
    .stacking(stacking)
    .showValue(VisibilityMode.Never)
    .barWidth(0.9)
    .groupWidth(0.8)
    .xTickLabelMaxLength(LABEL_CHARACTERS)
    .legend(new VizLegendOptionsBuilder().showLegend(true))
    .tooltip(new VizTooltipOptionsBuilder())
    .lineWidth(0)
    .fillOpacity(85)
    .gradientMode(GraphGradientMode.None)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic));
}

/** Gives columns that are named for stages the stages' colours. */
export function inStageColours<
  Panel extends { overrideByName(name: string, properties: DynamicConfigValue[]): unknown },
>(panel: Panel, stages: readonly (keyof typeof STAGE_COLOURS)[]): Panel {
  for (const stage of stages) {
    const color = { mode: FieldColorModeId.Fixed, fixedColor: STAGE_COLOURS[stage] };
    panel.overrideByName(stage, [{ id: 'color', value: color }]);
  }
  return panel;
}
