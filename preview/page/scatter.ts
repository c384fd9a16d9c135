import type { Field } from '../../dashboards/runner/frame.ts';
import { lookOf, nameOf, stepOf } from '../../dashboards/runner/look.ts';
import { format } from '../../dashboards/runner/units.ts';
import { axis, type Mark, showChart, tooltip } from './chart.ts';
import { colourOf, PALETTE } from './colours.ts';
import { type Draw, rowCount } from './draw.ts';
import { grid, legend } from './legend.ts';
import { linkOf } from './links.ts';
import { tip } from './tip.ts';

interface SeriesOptions {
  readonly x: { readonly matcher: { readonly options: string } };
  readonly y: { readonly matcher: { readonly options: string } };
  readonly color?: { readonly matcher: { readonly options: string } };
}

/** Points of two fields; a third colours them by its thresholds, each of which has a place in the legend. */
export const drawScatter: Draw = ({ panel, frames, view, body, open }) => {
  const frame = frames[0];
  const [options] = (panel.options as { series: readonly SeriesOptions[] }).series;
  const fieldOf = (part: SeriesOptions['x'] | undefined): Field | undefined =>
    frame?.fields.find(({ name }) => name === part?.matcher.options);
  const [x, y, colour] = [fieldOf(options?.x), fieldOf(options?.y), fieldOf(options?.color)];
  if (frame === undefined || x === undefined || y === undefined) return false;
  const rows = Array.from({ length: rowCount(frame) }, (_, row) => row).filter(
    (row) => x.values[row] !== null && y.values[row] !== null,
  );
  if (rows.length === 0) return false;
  const [xLook, yLook] = [lookOf(panel, x), lookOf(panel, y)];
  const colourLook = colour === undefined ? undefined : lookOf(panel, colour);
  const steps = colourLook?.thresholds?.steps ?? [{ color: PALETTE[0]!, value: null }];
  const groups = steps.map((step, at) => ({
    name: groupName(at, steps, colour?.name.replaceAll('_', ' ') ?? ''),
    colour: colourOf(step.color),
    rows: rows.filter((row) => {
      const value = colour?.values[row];
      if (colourLook === undefined || value === null || value === undefined) return at === 0;
      return stepOf(colourLook, Number(value)) === step;
    }),
  }));
  const [link, linkField] = [yLook.links ? yLook : xLook, frame];
  const facts = (row: number) =>
    frame.fields
      .filter(({ name, values }) => values[row] !== null && name !== 'log_id')
      .map((field) => {
        const look = lookOf(panel, field);
        const value = field.values[row];
        return {
          name: nameOf(field, look).replaceAll('_', ' '),
          text: typeof value === 'number' ? format(value, look.unit) : String(value),
        };
      });
  const marks = groups
    .flatMap(({ rows: members }, series) =>
      members.map((row, index): Mark & { x: number } => ({
        series,
        index,
        x: Number(x.values[row]),
        text: facts(row)
          .map(({ name, text }) => `${name} ${text}`)
          .join(', '),
        path: linkOf(link, linkField, row, view),
      })),
    )
    .toSorted((a, b) => b.x - a.x);
  const withLegend = groups.length > 1;
  showChart(
    body,
    panel.title ?? '',
    {
      grid: { ...grid(withLegend ? 1 : 0), top: 30, bottom: withLegend ? 52 : 26 },
      ...(withLegend ? { legend: legend(groups.map(({ name }) => name)) } : {}),
      xAxis: axis({
        type: 'value',
        name: xLook.custom.axisLabel ?? nameOf(x, xLook),
        nameLocation: 'middle',
        scale: false,
        axisLabel: { formatter: (value: number) => format(value, xLook.unit) },
      }),
      yAxis: axis({
        type: 'value',
        name: yLook.custom.axisLabel ?? nameOf(y, yLook).replaceAll('_', ' '),
        nameLocation: 'end',
        nameGap: 10,
        axisLabel: { formatter: (value: number) => format(value, yLook.unit) },
      }),
      tooltip: tooltip('item', ({ seriesIndex, dataIndex }: { seriesIndex: number; dataIndex: number }) => {
        const group = groups[seriesIndex]!;
        const row = group.rows[dataIndex]!;
        const hint = linkOf(link, linkField, row, view) === undefined ? '' : 'opens the request';
        return tip(panel.title ?? '', facts(row), hint);
      }),
      series: groups.map(({ name, colour: color, rows: members }) => ({
        type: 'scatter',
        name,
        color,
        symbolSize: 7,
        itemStyle: { opacity: 0.7 },
        emphasis: { scale: 2 },
        data: members.map((row) => [x.values[row], y.values[row]]),
      })),
    },
    marks,
    open,
  );
  return true;
};

function groupName(at: number, steps: readonly { value: number | null }[], field: string): string {
  const [from, to] = [steps[at]!.value, steps[at + 1]?.value];
  if (from === null) return `${field} unknown`;
  return to === undefined || to === null ? `${from} ${field} or more` : `${from}–${to - 1}`;
}
