import { lookOf } from '../../dashboards/runner/look.ts';
import { format, timeText } from '../../dashboards/runner/units.ts';
import { axis, type Mark, showChart, tooltip } from './chart.ts';
import { themeColour } from './colours.ts';
import type { Draw } from './draw.ts';
import { grid } from './legend.ts';
import { tip } from './tip.ts';
import { pathOf } from './view.ts';

const LEAST = 1e-9;
/** Few against many would leave the few unseen; Grafana's panel has the same exponent. */
const EXPONENT = 0.5;

/** Buckets of a histogram over time: a column for each step, a row for each bucket, darker for more. */
export const drawHeatmap: Draw = ({ panel, frames, view, body, open }) => {
  const [time, ...buckets] = frames[0]?.fields ?? [];
  if (time === undefined) return false;
  const given = time.values.map((at) => new Date(at as string).getTime());
  const step = Math.min(...given.slice(1).map((at, row) => at - given[row]!), 3_600_000);
  const first = given[0]!;
  const count = Math.round((given.at(-1)! - first) / step) + 1;
  const columns = Array.from({ length: count }, (_, at) => first + at * step);
  const cells = buckets.flatMap(({ values }, row) =>
    values.flatMap((value, at) => {
      const size = Number(value);
      return size > LEAST ? [{ column: Math.round((given[at]! - first) / step), row, size }] : [];
    }),
  );
  if (cells.length === 0) return false;
  const rows = cells.map(({ row }) => row);
  // Empty rows at both ends say nothing; one stays as a margin.
  const [low, high] = [Math.max(0, Math.min(...rows) - 1), Math.min(buckets.length - 1, Math.max(...rows) + 1)];
  const { unit } = lookOf(panel);
  const bound = (row: number): string => (buckets[row] === undefined ? '0' : format(Number(buckets[row].name), unit));
  const wanted = buckets.slice(low, high + 1);

  const marks = cells.map(({ column, row, size }, index): Mark => {
    const at = columns[column]!;
    const text = `${timeText(at)}: ${format(size, 'short', 0)} requests up to ${bound(row)}`;
    const window = { from: String(at - step), to: String(at) };
    return { series: 0, index, text, path: pathOf({ uid: 'slow-requests', variables: view.variables, ...window }) };
  });
  const most = Math.max(...cells.map(({ size }) => size ** EXPONENT));
  showChart(
    body,
    panel.title ?? '',
    {
      grid: { ...grid(0), top: 22 },
      xAxis: axis({
        type: 'category',
        data: columns.map((at) => timeText(at, count * step > 43_200_000)),
        splitLine: { show: false },
        axisLabel: { interval: Math.ceil(count / 8) },
      }),
      yAxis: axis({
        type: 'category',
        name: 'TTFT up to',
        nameGap: 8,
        data: wanted.map((_, at) => bound(low + at)),
        splitLine: { show: false },
      }),
      visualMap: {
        show: false,
        min: 0,
        max: most,
        dimension: 2,
        inRange: { color: ['heat-1', 'heat-2', 'heat-3', 'heat-4', 'heat-5'].map(themeColour) },
      },
      tooltip: tooltip('item', ({ dataIndex }: { dataIndex: number }) => {
        const { column, row, size } = cells[dataIndex]!;
        const range = `${bound(row - 1)} – ${bound(row)}`;
        return tip(
          timeText(columns[column]!),
          [{ name: range, text: `${format(size, 'short', 0)} requests` }],
          'opens the slow requests of this moment',
        );
      }),
      series: [
        {
          type: 'heatmap',
          data: cells.map(({ column, row, size }) => [column, row - low, size ** EXPONENT]),
          itemStyle: { borderColor: themeColour('panel'), borderWidth: count > 120 ? 0 : 1 },
          emphasis: { itemStyle: { borderColor: themeColour('text'), borderWidth: 1 } },
        },
      ],
    },
    marks,
    open,
  );
  return true;
};
