import type { EChartsCoreOption } from 'echarts/core';
import { themeColour } from './colours.ts';

const LINE_PX = 20;
const MAX_LINES = 3;

/** Room for as many lines of legend. */
export function grid(lines: number): EChartsCoreOption {
  return {
    left: 8,
    right: 18,
    top: 14,
    bottom: lines === 0 ? 6 : 14 + LINE_PX * lines,
    outerBoundsMode: 'same',
    outerBoundsContain: 'axisLabel',
  };
}

/** What the names would take in a panel's body; more than it may take, and it is leafed through in one. */
export function legendLines(names: readonly string[], { clientWidth }: HTMLElement): number {
  // A colour and its gaps, and a letter of 12 px on average.
  const width = names.reduce((sum, name) => sum + 32 + 7 * name.length, 0);
  const lines = Math.ceil(width / Math.max(1, clientWidth - 40));
  return lines > MAX_LINES ? 1 : lines;
}

export function legend(names: readonly string[], lines = 1): EChartsCoreOption {
  return {
    type: lines > 1 ? 'plain' : 'scroll',
    itemGap: lines > 1 ? 8 : 10,
    bottom: 0,
    left: 4,
    right: 4,
    itemWidth: 12,
    itemHeight: 8,
    icon: 'roundRect',
    data: names,
    textStyle: { color: themeColour('soft'), fontSize: 12 },
    pageIconColor: themeColour('soft'),
    pageTextStyle: { color: themeColour('soft') },
  };
}
