import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, test } from 'vitest';
import { dashboards } from './artefacts.ts';
import { DASHBOARDS, GRAFANA_VERSION, REQUEST } from './config.ts';
import { labelsOfSeries, selectorsOf } from './promqlNames.ts';
import { targetsOf } from './runner/runPanel.ts';

/** As Grafana reads it: JSON, without what the builders keep besides. */
const all = dashboards().map((dashboard) => JSON.parse(JSON.stringify(dashboard)) as Dashboard);
/** Ids of Grafana's unit registry that we use. A wrong id would be shown as text behind the number. */
const UNITS = ['s', 'ms', 'percentunit', 'percent', 'short', 'bytes', 'reqps', 'none'];
const GRID_COLUMNS = 24;

function panelsOf(dashboard: Dashboard): Panel[] {
  return (dashboard.panels ?? []).filter((panel): panel is Panel => panel.type !== 'row');
}

describe.each(all.map((dashboard) => [dashboard.uid ?? '', dashboard] as const))('dashboard %s', (uid, dashboard) => {
  const panels = panelsOf(dashboard);

  test('has a uid that Grafana takes, and no id', () => {
    expect(uid).toMatch(/^[a-z0-9-]{1,40}$/);
    expect(dashboard).not.toHaveProperty('id');
  });

  test('every id is there and used once, rows included', () => {
    const ids = (dashboard.panels ?? []).map((panel) => panel.id);
    expect(ids.every((id) => typeof id === 'number' && id > 0)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('panels lie on the grid and do not overlap', () => {
    const taken = new Map<string, string>();
    for (const { gridPos, type, id } of dashboard.panels ?? []) {
      const name = `${type} ${id}`;
      const { x, y, w, h } = gridPos ?? { x: 0, y: 0, w: 0, h: 0 };
      expect(w * h, name).toBeGreaterThan(0);
      expect(x + w, name).toBeLessThanOrEqual(GRID_COLUMNS);
      for (let column = x; column < x + w; column++) {
        for (let line = y; line < y + h; line++) {
          expect(taken.get(`${column},${line}`), `${name} covers`).toBeUndefined();
          taken.set(`${column},${line}`, name);
        }
      }
    }
  });

  test('variables are multi-valued and All at first, or have one value, and are safe in SQL', () => {
    for (const variable of dashboard.templating?.list ?? []) {
      expect(variable).not.toHaveProperty('allValue');
      if (variable.type !== 'query') continue;
      expect(variable.refresh).toBe(2);
      if (variable.multi) expect(variable).toMatchObject({ includeAll: true, current: { value: ['$__all'] } });
      else expect(variable.includeAll ?? false).toBe(false);
    }
  });

  test('marks alerts and deployments', () => {
    const marks = dashboard.annotations?.list ?? [];
    expect(marks.map(({ name }) => name)).toEqual(['Alerts', 'Deployments']);
    for (const { target } of marks)
      for (const expr of [(target as { expr?: string }).expr ?? []].flat()) expectCatalogued(expr);
  });

  test('links to every other dashboard, keeping time range and variables', () => {
    const others = DASHBOARDS.filter((each) => each.uid !== uid).map((each) => `/d/${each.uid}`);
    expect(dashboard.links?.map((link) => link.url)).toEqual(others);
    for (const link of dashboard.links ?? []) expect(link).toMatchObject({ keepTime: true, includeVars: true });
  });

  describe.each(panels.map((panel) => [panel.title ?? '', panel] as const))('panel %s', (title, panel) => {
    test('says what it is, what good looks like, and what to do', () => {
      expect(title).not.toBe('');
      expect(panel.description?.length).toBeGreaterThan(100);
      expect(panel.description).toMatch(/Good: |If it is/);
    });
    test('has a unit that Grafana knows, everywhere', () => {
      expect(UNITS).toContain(panel.fieldConfig?.defaults.unit);
      const overridden = (panel.fieldConfig?.overrides ?? []).flatMap((override) => override.properties);
      for (const property of overridden) if (property.id === 'unit') expect(UNITS).toContain(property.value);
    });
    test('is of the Grafana that we run', () => expect(panel.pluginVersion).toBe(GRAFANA_VERSION));
    test('matches variables of several values by =~, and those of one by =', () => {
      const multi = (dashboard.templating?.list ?? []).filter((each) => each.multi).map((each) => each.name);
      for (const expr of promqlOf(panel)) {
        for (const [, operator, name = ''] of expr.matchAll(/(=~|=)"\$(\w+)"/g)) {
          expect(operator, name).toBe(multi.includes(name) ? '=~' : '=');
        }
      }
    });
    test('asks for metrics and labels of the catalogue', () => {
      for (const expr of promqlOf(panel)) expectCatalogued(expr);
    });
    test('bounds the day wherever it reads requests', () => {
      for (const sql of sqlOf(panel)) {
        expect(sql).not.toMatch(/\$\{(?!__timezone\})\w+(?!:sqlstring\})\}/);
        // One request is looked up by its key, in whichever partition it lies.
        if (uid === REQUEST.uid || !sql.includes('FROM requests')) continue;
        expect(sql).toContain('$__timeFilter(started_at)');
        const reads = sql.match(/FROM requests\b/g)!.length;
        expect(sql.match(/(AND |requests\.)day BETWEEN/g)?.length).toBeGreaterThanOrEqual(reads);
      }
    });
  });
});

function promqlOf(panel: Panel): string[] {
  return targetsOf(panel).flatMap(({ datasource, expr }) => (datasource.type === 'prometheus' ? (expr ?? []) : []));
}

function sqlOf(panel: Panel): string[] {
  return targetsOf(panel).flatMap((target) => target.rawSql ?? []);
}

function expectCatalogued(expr: string): void {
  const selectors = selectorsOf(expr);
  expect(selectors.length, expr).toBeGreaterThan(0);
  for (const { name, labels } of selectors) {
    const known = labelsOfSeries(name);
    expect(known, `series ${name} in ${expr}`).toBeDefined();
    for (const label of labels) expect(known, `label of ${name}`).toContain(label);
  }
}
