import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { rowsOf } from '../../dashboards/runner/frame.ts';
import { runPanel } from '../../dashboards/runner/runPanel.ts';
import { type DashboardDatabase, interpolationWith, panelsOf } from './dashboardDatabase.ts';

/** Rows of a panel that has one SQL target. */
export async function panelRows(
  { sources }: DashboardDatabase,
  dashboard: Dashboard,
  id: number,
  variables: Readonly<Record<string, readonly string[]>>,
): Promise<Record<string, unknown>[]> {
  const panel = panelsOf(dashboard).find((each) => each.id === id) as Panel;
  const [frame] = await runPanel(panel, interpolationWith(variables), sources);
  return frame ? rowsOf(frame) : [];
}

/** Values by a key, in the order of their first appearance. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
