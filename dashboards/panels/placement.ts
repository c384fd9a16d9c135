import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type Dashboard,
  type DashboardBuilder,
  type GridPos,
  type Panel,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { GRAFANA_VERSION } from '../config.ts';

interface Placeable extends Builder<Panel> {
  id(id: number): this;
  gridPos(gridPos: GridPos): this;
}

/** A panel on Grafana's grid of 24 columns: its id, left edge, top edge, width and height. */
export type Place = readonly [panel: Placeable, id: number, x: number, y: number, w: number, h: number];

export function placePanels(dashboard: DashboardBuilder, places: readonly Place[]): void {
  for (const [panel, id, x, y, w, h] of places) dashboard.withPanel(panel.id(id).gridPos({ x, y, w, h }));
}

export function placeRow(dashboard: DashboardBuilder, title: string, id: number, y: number): void {
  dashboard.withRow(new RowBuilder(title).id(id).gridPos({ x: 0, y, w: 24, h: 1 }));
}

/**
 * What the builders cannot do. They give tables a footer, which Grafana no longer knows. And this says on every panel which Grafana it was made for; without it Grafana takes the panel for one of years ago
 * and migrates it, which empties the scatter.
 */
export function stampVersion(dashboard: Dashboard): Dashboard {
  for (const panel of dashboard.panels ?? []) {
    if (panel.type === 'row') continue;
    (panel as Panel).pluginVersion = GRAFANA_VERSION;
    if (panel.type === 'table') delete (panel as { options?: { footer?: unknown } }).options?.footer;
  }
  return dashboard;
}
