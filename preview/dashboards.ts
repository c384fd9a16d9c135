import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DASHBOARDS } from '../dashboards/config.ts';
import { targetsOf } from '../dashboards/runner/runPanel.ts';

const FOLDER = fileURLToPath(new URL('../provisioning/grafana/dashboards', import.meta.url));

/** What the page gets of a dashboard: everything but its queries, which it has no use for. */
export interface ShownDashboard extends Omit<Dashboard, 'panels'> {
  readonly panels: readonly (Omit<Panel, 'targets'> & { readonly sources: readonly string[] })[];
}

/** The generated dashboards, as Grafana gets them, by uid, in the order in which they are linked. */
export function readDashboards(): ReadonlyMap<string, Dashboard> {
  const read = (uid: string): Dashboard =>
    JSON.parse(readFileSync(path.join(FOLDER, `${uid}.json`), 'utf8')) as Dashboard;
  return new Map(DASHBOARDS.map(({ uid }) => [uid, read(uid)]));
}

export type ShownPanel = ShownDashboard['panels'][number];

export function shownDashboard(dashboard: Dashboard): ShownDashboard {
  const panels = (dashboard.panels as Panel[]).map(({ targets, ...panel }) => ({
    ...panel,
    sources: [...new Set(targetsOf({ targets } as Panel).map(({ datasource }) => datasource.type))],
  }));
  return { ...dashboard, panels };
}

export function panelOf(dashboard: Dashboard, id: number): Panel | undefined {
  return (dashboard.panels as Panel[]).find((panel) => panel.id === id && panel.type !== 'row');
}
