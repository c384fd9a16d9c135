import type { Frame } from '../../dashboards/runner/frame.ts';
import { type Look, lookOf, nameOf } from '../../dashboards/runner/look.ts';
import { format, timeText } from '../../dashboards/runner/units.ts';
import type { ShownPanel } from '../dashboards.ts';
import { axis, showChart, tooltip } from './chart.ts';
import { colourOf, PALETTE, themeColour } from './colours.ts';
import type { Draw } from './draw.ts';
import { grid, legend } from './legend.ts';
import { tip } from './tip.ts';

interface Line {
  readonly name: string;
  readonly look: Look;
  readonly colour: string;
  readonly points: readonly (readonly [number, number | null])[];
}

export const drawTimeSeries: Draw = ({ panel, frames, view, body, open }) => {
  const lines = linesOf(panel, frames);
  if (!lines.some(({ points }) => points.some(([, value]) => value !== null))) return false;
  const look = lookOf(panel);
  const { stacking, fillOpacity = 0, lineWidth = 1, thresholdsStyle } = look.custom;
  const stacked = stacking !== undefined && stacking.mode !== 'none';
  const drawn = stacking?.mode === 'percent' ? sharesOf(lines) : lines;
  const text = (value: number): string =>
    stacking?.mode === 'percent' ? format(value, 'percentunit') : format(value, look.unit, look.decimals);
  const thresholds = thresholdsStyle === undefined ? {} : thresholdMarks(look, thresholdsStyle.mode);

  showChart(
    body,
    panel.title ?? '',
    {
      grid: grid(1),
      legend: legend(drawn.map(({ name }) => name)),
      xAxis: axis({ type: 'time', splitLine: { show: false }, ...spanOf(drawn, view) }),
      yAxis: axis({ type: 'value', min: look.min, max: look.max, axisLabel: { formatter: text } }),
      tooltip: tooltip('axis', (hit: { seriesIndex: number; value: [number, number | null] }[]) =>
        tip(
          timeText(hit[0]!.value[0]),
          hit
            .filter(({ value }) => value[1] !== null)
            .map(({ seriesIndex, value }) => {
              const { name, colour } = drawn[seriesIndex]!;
              return { name, colour, text: text(value[1]!) };
            }),
        ),
      ),
      series: drawn.map(({ name, colour, points }, at) => ({
        type: 'line',
        name,
        data: points,
        color: colour,
        // A single sample would have no line.
        showSymbol: points.length < 40,
        symbolSize: 4,
        lineStyle: { width: lineWidth === 0 ? 0 : 1.5 },
        ...(fillOpacity > 0 ? { areaStyle: { opacity: fillOpacity / 100 } } : {}),
        ...(stacked ? { stack: 'all' } : {}),
        ...(at === 0 ? thresholds : {}),
      })),
    },
    [],
    open,
  );
  return true;
};

function linesOf(panel: ShownPanel, frames: readonly Frame[]): Line[] {
  const lines: Line[] = [];
  for (const frame of frames) {
    const times = frame.fields.find(({ type }) => type === 'time')?.values as (number | string)[] | undefined;
    if (times === undefined) continue;
    for (const field of frame.fields.filter(({ type }) => type === 'number')) {
      const look = lookOf(panel, field);
      const fixed = look.color?.mode === 'fixed' ? look.color.fixedColor : undefined;
      lines.push({
        name: nameOf(field, look),
        look,
        colour: fixed === undefined ? PALETTE[lines.length % PALETTE.length]! : colourOf(fixed),
        points: times.map((at, row) => [new Date(at).getTime(), (field.values[row] ?? null) as number | null]),
      });
    }
  }
  return lines;
}

/** Each value as its share of all at that moment. */
function sharesOf(lines: readonly Line[]): Line[] {
  const sums = new Map<number, number>();
  for (const { points } of lines)
    for (const [at, value] of points) sums.set(at, (sums.get(at) ?? 0) + Math.max(0, value ?? 0));
  return lines.map((line) => ({
    ...line,
    points: line.points.map(([at, value]) => [at, value === null ? null : Math.max(0, value) / (sums.get(at) || 1)]),
  }));
}

/** The whole range that was asked for, also where nothing is known. */
function spanOf(lines: readonly Line[], view: { from: string; to: string }): object {
  const times = lines.flatMap(({ points }) => points.map(([at]) => at));
  const end = view.to === 'now' ? Date.now() : Number(view.to);
  const back = /^now-(\d+)([smhd])$/.exec(view.from);
  const unit = { s: 1e3, m: 6e4, h: 36e5, d: 864e5 }[back?.[2] ?? ''] ?? 0;
  const start = back === null ? Number(view.from) : Date.now() - Number(back[1]) * unit;
  return { min: Number.isNaN(start) ? Math.min(...times) : start, max: Number.isNaN(end) ? Math.max(...times) : end };
}

function thresholdMarks(look: Look, mode: string): object {
  const steps = look.thresholds?.steps ?? [];
  if (mode === 'area')
    return {
      markArea: {
        silent: true,
        data: steps
          .map(({ color, value }, at) => ({ color, from: value ?? 0, to: steps[at + 1]?.value ?? 'max' }))
          .filter(({ color }) => color !== 'transparent' && color !== 'text')
          .map(({ color, from, to }) => [
            { yAxis: from, itemStyle: { color: colourOf(color), opacity: 0.12 } },
            { yAxis: to },
          ]),
      },
    };
  return {
    markLine: {
      silent: true,
      symbol: 'none',
      label: { show: false },
      data: steps
        .filter(({ value }) => value !== null)
        .map(({ color, value }) => ({
          yAxis: value,
          lineStyle: { color: color === 'text' ? themeColour('soft') : colourOf(color), type: 'dashed', width: 1 },
        })),
    },
  };
}
