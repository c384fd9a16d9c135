import {
  FieldTextAlignment,
  TableCellBackgroundDisplayMode,
  TableCellDisplayMode,
  TableCellHeight,
} from '@grafana/grafana-foundation-sdk/common';
import { DashboardLinkBuilder, FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { FIRST_TOKEN } from '../config.ts';
import { requestLinks } from '../links/requestLinks.ts';
import { clientTtftByHourSql } from '../queries/clientTtftByHour.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { reference } from '../variables/reference.ts';

/** Milliseconds at which a cell is fully red. Fixed, so that a colour means the same today and tomorrow. */
const REDDEST_MS = 3000;

const AUTO_CELL = { id: 'custom.cellOptions', value: { type: TableCellDisplayMode.Auto } };

/** The dashboard with only this panel and a longer time range. */
function longerRange(title: string, from: string): DashboardLinkBuilder {
  const panel = FIRST_TOKEN.panelIds.clientTtftByHour;
  const url = `/d/${FIRST_TOKEN.uid}?from=${from}&to=now&viewPanel=${panel}&${reference('__all_variables')}`;
  return new DashboardLinkBuilder(title).url(url);
}

/** A table as heatmap: the one panel with two axes of names. */
export function clientTtftByHour(): PanelBuilder {
  return new PanelBuilder()
    .title('Client TTFT p95 by hour, region and device')
    .description(
      'Time to first token as the client saw it, 95th percentile, by hour of the day in your time zone. Good: green everywhere. A red column is ' +
        'load at that hour; a red row is a region or a device with a slow way to us; a single red cell may rest on few requests: see the count ' +
        'at the right. An hour without requests is a dash. Choose a range of a day or more to fill all columns (links in the panel menu). ' +
        "The trace at the end is that of the row's slowest request. Beyond three hours, unless narrowed by route, variant or tier, it is read from the " +
        'rollups: whole hours, within 1 %, and the slowest request of closed hours.',
    )
    .links([longerRange('Last 24 hours', 'now-24h'), longerRange('Last 7 days', 'now-7d')])
    .withTarget(new PostgresQuery(clientTtftByHourSql()))
    .unit('ms')
    .min(0)
    .max(REDDEST_MS)
    .noValue('-')
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.ContinuousGrYlRd))
    .showHeader(true)
    .cellHeight(TableCellHeight.Sm)
    .align(FieldTextAlignment.Center)
    .minWidth(50)
    .cellOptions({ type: TableCellDisplayMode.ColorBackground, mode: TableCellBackgroundDisplayMode.Basic })
    .overrideByFieldType('string', [
      AUTO_CELL,
      { id: 'custom.width', value: 170 },
      { id: 'custom.align', value: FieldTextAlignment.Left },
    ])
    .overrideByName('requests', [AUTO_CELL, { id: 'unit', value: 'short' }, { id: 'custom.width', value: 80 }])
    .overrideByName('trace_id', [
      { id: 'displayName', value: 'slowest request' },
      { id: 'links', value: requestLinks() },
    ])
    .overrideByName('log_id', [
      { id: 'displayName', value: 'id in logs' },
      { id: 'links', value: requestLinks() },
    ]);
}
