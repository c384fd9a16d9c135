import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { annotations } from './annotations.ts';
import { DASHBOARDS } from './config.ts';
import { type Place, placePanels, placeRow, stampVersion } from './panels/placement.ts';
import { dataSourceVariables } from './variables/dataSources.ts';

/** A line of the grid: panels, or the heading of a row. */
export type Line = readonly Place[] | { readonly row: string; readonly id: number; readonly y: number };

export interface PageText {
  readonly uid: string;
  readonly title: string;
  /** The question that the dashboard answers. */
  readonly description: string;
  /** Start of the time range at first, as `now-1h`. */
  readonly from?: string;
  readonly refresh?: string;
  /** Besides those of the data sources. */
  readonly variables?: readonly Builder<VariableModel>[];
}

/** What all dashboards have in common: data sources, annotations, and links to the others that keep time range and variables. */
export function page(text: PageText, lines: readonly Line[]): Dashboard {
  const dashboard = new DashboardBuilder(text.title)
    .uid(text.uid)
    .description(text.description)
    .tags(['firsttoken'])
    .time({ from: text.from ?? 'now-1h', to: 'now' })
    .refresh(text.refresh ?? '30s')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .editable()
    .links(DASHBOARDS.filter(({ uid }) => uid !== text.uid).map(linkTo))
    .annotations(annotations())
    .variables([...dataSourceVariables(), ...(text.variables ?? [])]);
  for (const line of lines) {
    if ('row' in line) placeRow(dashboard, line.row, line.id, line.y);
    else placePanels(dashboard, line);
  }
  return stampVersion(dashboard.build());
}

function linkTo({ uid, title }: (typeof DASHBOARDS)[number]): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title)
    .type(DashboardLinkType.Link)
    .url(`/d/${uid}`)
    .icon('dashboard')
    .includeVars(true)
    .keepTime(true);
}
