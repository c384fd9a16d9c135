import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { VizLegendOptionsBuilder, VizTooltipOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  PanelBuilder,
  PointShape,
  SeriesMapping,
  XYSeriesConfigBuilder,
  XYShowMode,
} from '@grafana/grafana-foundation-sdk/xychart';
import type { StatText } from './figureStat.ts';

export interface Axes {
  readonly x: string;
  readonly y: string;
  /** The number column whose thresholds colour the points. */
  readonly colour?: string;
}

const byName = (options: string) => ({ matcher: { id: 'byName', options } });

/** A point per row, by two number columns. */
export function points({ title, description, unit }: StatText, target: Builder<Dataquery>, axes: Axes): PanelBuilder {
  // Manual mapping draws nothing unless frame, x and y are all matched.
  const series = new XYSeriesConfigBuilder()
    .name({ fixed: title })
    .frame({ matcher: { id: 'byIndex', options: 0 } })
    .x(byName(axes.x))
    .y(byName(axes.y));
  return new PanelBuilder()
    .title(title)
    .description(description)
    .withTarget(target)
    .unit(unit)
    .mapping(SeriesMapping.Manual)
    .series([axes.colour === undefined ? series : series.color(byName(axes.colour))])
    .legend(new VizLegendOptionsBuilder().showLegend(false))
    .tooltip(new VizTooltipOptionsBuilder())
    .show(XYShowMode.Points)
    .pointSize({ fixed: 6 })
    .pointShape(PointShape.Circle)
    .pointStrokeWidth(1)
    .fillOpacity(60);
}
