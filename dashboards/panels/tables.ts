import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  FieldTextAlignment,
  TableCellBackgroundDisplayMode,
  TableCellDisplayMode,
  TableCellHeight,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import type { StatText } from './figureStat.ts';
import { noThresholds } from './thresholdSteps.ts';

const AUTO_CELL = { id: 'custom.cellOptions', value: { type: TableCellDisplayMode.Auto } };

/** A plain table. */
export function table({ title, description, unit }: StatText, target: Builder<Dataquery>): PanelBuilder {
  return new PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue('-')
    .withTarget(target)
    .thresholds(noThresholds())
    .showHeader(true)
    .cellHeight(TableCellHeight.Sm)
    .cellOptions({ type: TableCellDisplayMode.Auto });
}

/** A table whose numbers are coloured from green to red; `reddest` is fixed, so that a colour means the same every day. */
export function heatTable(text: StatText, target: Builder<Dataquery>, reddest: number): PanelBuilder {
  return table(text, target)
    .min(0)
    .max(reddest)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.ContinuousGrYlRd))
    .align(FieldTextAlignment.Center)
    .minWidth(50)
    .cellOptions({ type: TableCellDisplayMode.ColorBackground, mode: TableCellBackgroundDisplayMode.Basic })
    .overrideByFieldType('string', [AUTO_CELL, { id: 'custom.align', value: FieldTextAlignment.Left }]);
}

/** A column that counts: no colour, no unit of time. */
export function countColumn<Panel extends Pick<PanelBuilder, 'overrideByName'>>(panel: Panel, column: string): Panel {
  panel.overrideByName(column, [AUTO_CELL, { id: 'unit', value: 'short' }]);
  return panel;
}
