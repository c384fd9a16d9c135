import { lookOf, nameOf } from '../../dashboards/runner/look.ts';
import { format } from '../../dashboards/runner/units.ts';
import { axis, type Mark, showChart, tooltip } from './chart.ts';
import { colourOf, PALETTE } from './colours.ts';
import { type Draw, rowCount } from './draw.ts';
import { grid, legend, legendLines } from './legend.ts';
import { linkOf } from './links.ts';
import { tip } from './tip.ts';

/** Horizontal bars: a row for each value of the category field, beside each other or stacked, also as shares. */
export const drawBars: Draw = ({ panel, frames, view, body, open }) => {
  const frame = frames[0];
  const { xField, stacking } = panel.options as { xField?: string; stacking: string };
  const category = frame?.fields.find(({ name }) => name === xField);
  if (frame === undefined || category === undefined) return false;
  const rows = Array.from({ length: rowCount(frame) }, (_, row) => row).filter((row) => category.values[row] !== null);
  const parts = frame.fields
    .filter(({ type, name }) => type === 'number' && name !== xField)
    .map((field) => ({ field, look: lookOf(panel, field) }))
    .filter(({ look }) => look.custom.hideFrom?.viz !== true && look.custom.hidden !== true)
    .map(({ field, look }, at) => ({
      name: nameOf(field, look),
      look,
      values: rows.map((row) => (field.values[row] === null ? null : Number(field.values[row]))),
      colour: look.color?.mode === 'fixed' ? colourOf(look.color.fixedColor ?? '') : PALETTE[at % PALETTE.length]!,
    }))
    // A part that nobody has would only lengthen the legend.
    .filter(({ values }) => values.some((value) => value !== null && value !== 0));
  if (rows.length === 0 || parts.length === 0) return false;
  const sums = rows.map((_, at) => parts.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0));
  const shares = stacking === 'percent';
  const { unit, min, max } = lookOf(panel);
  const text = (value: number): string => format(value, shares ? 'percentunit' : unit);

  const marks: Mark[] = [];
  for (const at of rows.keys())
    for (const [series, { name, values, look }] of parts.entries())
      if (values[at] !== null && values[at] !== 0)
        marks.push({
          series,
          index: at,
          text: `${String(category.values[rows[at]!])}: ${name} ${format(values[at]!, look.unit)}`,
          path: linkOf(look, frame, rows[at]!, view),
        });
  const leads = marks.some(({ path }) => path !== undefined);
  const labelWidth = Math.min(230, Math.max(70, body.clientWidth * 0.34));
  const names = parts.map(({ name }) => name);
  const lines = legendLines(names, body);
  showChart(
    body,
    panel.title ?? '',
    {
      grid: grid(lines),
      legend: legend(names, lines),
      xAxis: axis({ type: 'value', min: shares ? 0 : min, max: shares ? 1 : max, axisLabel: { formatter: text } }),
      yAxis: axis({
        type: 'category',
        inverse: true,
        data: rows.map((row) => String(category.values[row])),
        axisLabel: { width: labelWidth, overflow: 'truncate', hideOverlap: false, interval: 0 },
        splitLine: { show: false },
      }),
      tooltip: tooltip('item', ({ seriesIndex, dataIndex }: { seriesIndex: number; dataIndex: number }) =>
        tip(
          String(category.values[rows[dataIndex]!]),
          parts
            .map((part, at) => ({ part, at, value: part.values[dataIndex] ?? null }))
            .filter(({ value, at }) => value !== null && (value !== 0 || at === seriesIndex))
            .map(({ part: { name, colour, look }, value }) => ({ name, colour, text: format(value!, look.unit) })),
          leads ? 'opens the request' : '',
        ),
      ),
      series: parts.map(({ name, colour, values }) => ({
        type: 'bar',
        name,
        color: colour,
        barMaxWidth: 26,
        ...(stacking === 'none' ? {} : { stack: 'all' }),
        data: shares
          ? values.map((value, at) => (value === null ? null : Math.max(0, value) / (sums[at] || 1)))
          : values,
      })),
    },
    marks,
    open,
  );
  return true;
};
