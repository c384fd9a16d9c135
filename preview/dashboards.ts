import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { FIRST_TOKEN } from '../dashboards/config.ts';
import { targetsOf } from '../dashboards/runner/runPanel.ts';

const FOLDER = fileURLToPath(new URL('../provisioning/grafana/dashboards', import.meta.url));

/** What the page gets of a dashboard: everything but its queries, which it has no use for. */
export interface ShownDashboard extends Omit<Dashboard, 'panels'> {
  readonly panels: readonly (Omit<Panel, 'targets'> & { readonly sources: readonly string[] })[];
}

/** The generated dashboards, as Grafana gets them, by uid; the home dashboard first, the others in the order of its links. */
export function readDashboards(): ReadonlyMap<string, Dashboard> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  const dashboards = files.map((name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Dashboard);
  const home = dashboards.find(({ uid }) => uid === FIRST_TOKEN.uid);
  const order = (home?.links ?? []).map(({ url }) => url);
  const placeOf = ({ uid }: Dashboard): number => order.indexOf(`/d/${uid}`);
  return new Map(
    dashboards.toSorted((a, b) => placeOf(a) - placeOf(b)).map((dashboard) => [dashboard.uid!, dashboard]),
  );
}

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
