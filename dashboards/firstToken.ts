import { type Dashboard, DashboardBuilder, DashboardCursorSync } from '@grafana/grafana-foundation-sdk/dashboard';
import { FIRST_TOKEN } from './config.ts';
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
import { placePanels, placeRow, stampVersion } from './panels/placement.ts';
import { slowestRequests } from './panels/slowestRequests.ts';
import { ttftHeatmap } from './panels/ttftHeatmap.ts';
import { ttftTpotScatter } from './panels/ttftTpotScatter.ts';
import { dataSourceVariables } from './variables/dataSources.ts';
import { dimensionVariables } from './variables/dimensionVariables.ts';

/** The first dashboard to open: how it stands, when and for whom it is slow, and why the slowest were. */
export function firstToken(): Dashboard {
  const { panelIds: ids } = FIRST_TOKEN;
  const dashboard = new DashboardBuilder(FIRST_TOKEN.title)
    .uid(FIRST_TOKEN.uid)
    .description('Why the first token was late, for which users, and which log line proves it.')
    .tags(['firsttoken'])
    .time({ from: 'now-1h', to: 'now' })
    .refresh('10s')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .editable()
    .variables([...dataSourceVariables(), ...dimensionVariables()]);

  placeRow(dashboard, 'How it stands', ids.figuresRow, 0);
  placePanels(dashboard, [
    [ttftP95(), ids.ttftP95, 0, 1, 3, 5],
    [tpotP90(), ids.tpotP90, 3, 1, 3, 5],
    [ttftOver1sRatio(), ids.ttftOver1sRatio, 6, 1, 3, 5],
    [tpotStddev(), ids.tpotStddev, 9, 1, 3, 5],
    [streamGapMax(), ids.streamGapMax, 12, 1, 3, 5],
    [ttftP999(), ids.ttftP999, 15, 1, 3, 5],
    [longestGap(), ids.longestGap, 18, 1, 3, 5],
    [requestCount(), ids.requestCount, 21, 1, 3, 5],
  ]);
  placeRow(dashboard, 'When, and for whom', ids.spreadRow, 6);
  placePanels(dashboard, [
    [ttftHeatmap(), ids.ttftHeatmap, 0, 7, 12, 11],
    [ttftTpotScatter(), ids.ttftTpotScatter, 12, 7, 12, 11],
    [clientTtftByHour(), ids.clientTtftByHour, 0, 18, 24, 9],
  ]);
  placeRow(dashboard, 'Why', ids.causesRow, 27);
  placePanels(dashboard, [
    [attributionWaterfall(), ids.attributionWaterfall, 0, 28, 24, 12],
    [slowestRequests(), ids.slowestRequests, 0, 40, 24, 10],
  ]);
  return stampVersion(dashboard.build());
}
