import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { FIRST_TOKEN } from './config.ts';
import { page } from './page.ts';
import { attributionWaterfall } from './panels/attributionWaterfall.ts';
import { clientTtftByHour } from './panels/clientTtftByHour.ts';
import {
  longestGap,
  requestCount,
  streamGapMax,
  tpotP90,
  tpotStddev,
  ttftOver1sRatio,
  ttftP95,
  ttftP999,
} from './panels/coreFigures.ts';
import { slowestRequests } from './panels/slowestRequests.ts';
import { completionByBand, firstScreen, hiddenTax, joinCoverage, tpotCurves } from './panels/streamCurves.ts';
import { ttftClientCurves, ttftOverRatios, ttftServerCurves } from './panels/ttftCurves.ts';
import { ttftHeatmap } from './panels/ttftHeatmap.ts';
import { ttftTpotScatter } from './panels/ttftTpotScatter.ts';
import { dimensionVariables } from './variables/dimensionVariables.ts';

/** The first dashboard to open: how it stands, when and for whom it is slow, why the slowest were, and how it has been going. */
export function firstToken(): Dashboard {
  const { panelIds: ids } = FIRST_TOKEN;
  return page(
    {
      ...FIRST_TOKEN,
      description: 'Why the first token was late, for which users, and which log line proves it.',
      refresh: '10s',
      variables: dimensionVariables(),
    },
    [
      { row: 'How it stands', id: ids.figuresRow, y: 0 },
      [
        [ttftP95(), ids.ttftP95, 0, 1, 3, 5],
        [tpotP90(), ids.tpotP90, 3, 1, 3, 5],
        [ttftOver1sRatio(), ids.ttftOver1sRatio, 6, 1, 3, 5],
        [tpotStddev(), ids.tpotStddev, 9, 1, 3, 5],
        [streamGapMax(), ids.streamGapMax, 12, 1, 3, 5],
        [ttftP999(), ids.ttftP999, 15, 1, 3, 5],
        [longestGap(), ids.longestGap, 18, 1, 3, 5],
        [requestCount(), ids.requestCount, 21, 1, 3, 5],
      ],
      { row: 'When, and for whom', id: ids.spreadRow, y: 6 },
      [
        [ttftHeatmap(), ids.ttftHeatmap, 0, 7, 12, 11],
        [ttftTpotScatter(), ids.ttftTpotScatter, 12, 7, 12, 11],
        [clientTtftByHour(), ids.clientTtftByHour, 0, 18, 24, 9],
      ],
      { row: 'Why', id: ids.causesRow, y: 27 },
      [
        [attributionWaterfall(), ids.attributionWaterfall, 0, 28, 24, 12],
        [slowestRequests(), ids.slowestRequests, 0, 40, 24, 10],
      ],
      { row: 'How it has been going', id: ids.courseRow, y: 50 },
      [
        [ttftServerCurves(), ids.ttftServerCurves, 0, 51, 8, 8],
        [ttftClientCurves(), ids.ttftClientCurves, 8, 51, 8, 8],
        [ttftOverRatios(), ids.ttftOverRatios, 16, 51, 8, 8],
        [tpotCurves(), ids.tpotCurves, 0, 59, 8, 8],
        [hiddenTax(), ids.hiddenTax, 8, 59, 8, 8],
        [firstScreen(), ids.firstScreen, 16, 59, 8, 8],
        [completionByBand(), ids.completionByBand, 0, 67, 12, 7],
        [joinCoverage(), ids.joinCoverage, 12, 67, 12, 7],
      ],
    ],
  );
}
