import { BarChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
} from 'echarts/components';
import { type EChartsCoreOption, type EChartsType, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { themeColour } from './colours.ts';
import { el } from './dom.ts';

use([BarChart, HeatmapChart, LineChart, ScatterChart, CanvasRenderer]);
use([GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, VisualMapComponent]);

/** Something in a chart that can be reached, by the pointer and by the arrow keys. */
export interface Mark {
  readonly series: number;
  readonly index: number;
  /** Said of it. */
  readonly text: string;
  /** Where it leads. */
  readonly path?: string | undefined;
}

interface Shown {
  readonly chart: EChartsType;
  marks: readonly Mark[];
  at: number;
}

const shown = new WeakMap<HTMLElement, Shown>();

/** Draws into a panel's body, or draws its chart anew. `open` is called with the path of a mark that is clicked, or entered. */
export function showChart(
  body: HTMLElement,
  title: string,
  option: EChartsCoreOption,
  marks: readonly Mark[],
  open: (path: string) => void,
): void {
  const state = shown.get(body) ?? begin(body, title, open);
  state.marks = marks;
  state.at = -1;
  state.chart.setOption(
    { animation: false, textStyle: { fontFamily: getComputedStyle(body).fontFamily }, ...option },
    { notMerge: true },
  );
  const leads = marks.some(({ path }) => path !== undefined);
  const keys = marks.length > 0 ? ` Arrow keys go through ${marks.length} points${leads ? ', Enter opens' : ''}.` : '';
  state.chart.getDom().setAttribute('aria-label', `${title}.${keys}`);
}

/** Ends what was drawn into a body, before something else is put there. */
export function endChart(body: HTMLElement): void {
  shown.get(body)?.chart.dispose();
  shown.delete(body);
}

function begin(body: HTMLElement, title: string, open: (path: string) => void): Shown {
  const area = el('div', { className: 'chart', tabIndex: 0, role: 'application', 'aria-label': title });
  const said = el('p', { className: 'said', 'aria-live': 'polite' });
  body.replaceChildren(area, said);
  const chart = init(area);
  const state: Shown = { chart, marks: [], at: -1 };
  shown.set(body, state);
  new ResizeObserver(() => chart.isDisposed() || chart.resize()).observe(area);
  chart.on('click', ({ seriesIndex, dataIndex }) => {
    const mark = state.marks.find(({ series, index }) => series === seriesIndex && index === dataIndex);
    if (mark?.path !== undefined) open(mark.path);
  });
  area.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const { marks } = state;
    if (step !== undefined && marks.length > 0) {
      event.preventDefault();
      state.at = (state.at + step + marks.length + (state.at < 0 && step < 0 ? 1 : 0)) % marks.length;
      const { series: seriesIndex, index: dataIndex, text } = marks[state.at]!;
      chart.dispatchAction({ type: 'downplay' });
      chart.dispatchAction({ type: 'highlight', seriesIndex, dataIndex });
      chart.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
      said.textContent = text;
    }
    const path = marks[state.at]?.path;
    if (event.key === 'Enter' && path !== undefined) open(path);
  });
  area.addEventListener('blur', () => {
    chart.dispatchAction({ type: 'hideTip' });
    chart.dispatchAction({ type: 'downplay' });
  });
  return state;
}

/** The parts of an axis that the theme decides. */
export function axis(more: EChartsCoreOption = {}): EChartsCoreOption {
  const { axisLabel, splitLine, ...rest } = more as { axisLabel?: object; splitLine?: object };
  return {
    axisLine: { lineStyle: { color: themeColour('line') } },
    axisTick: { show: false },
    axisLabel: { color: themeColour('soft'), fontSize: 11, hideOverlap: true, ...axisLabel },
    splitLine: { lineStyle: { color: themeColour('line') }, ...splitLine },
    nameTextStyle: { color: themeColour('soft'), fontSize: 11 },
    nameGap: 24,
    ...rest,
  };
}

/** A tooltip of rows: a colour, a name and a text. Built of elements, since the page's policy takes no styles from markup. */
export function tooltip(trigger: 'item' | 'axis', contentOf: (parameters: never) => Node): EChartsCoreOption {
  return {
    trigger,
    confine: true,
    backgroundColor: themeColour('raised'),
    borderColor: themeColour('line'),
    padding: [8, 10],
    textStyle: { color: themeColour('text'), fontSize: 12 },
    axisPointer: { lineStyle: { color: themeColour('soft') }, shadowStyle: { opacity: 0.15 } },
    formatter: contentOf,
  };
}
