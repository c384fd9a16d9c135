import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboards } from '../../dashboards/artefacts.ts';
import { REQUEST } from '../../dashboards/config.ts';
import { type Frame, knownRowsOf, rowsOf } from '../../dashboards/runner/frame.ts';
import { runPanel } from '../../dashboards/runner/runPanel.ts';
import {
  createDashboardDatabase,
  type DashboardDatabase,
  interpolationWith,
  panelsOf,
  sqlTargetsOf,
} from './dashboardDatabase.ts';
import { rollUp } from './dashboardRollups.ts';
import { hex, inRange, sampleRequests } from './dashboardSample.ts';

type Variables = Record<string, string[]>;

const stored = sampleRequests();
/** A request that has all that a request can have. */
const whole = stored.find(
  (row) => inRange(row) && row.arrivals_ms && row.chunk_tokens && row.sub_stages_ns && row.server_source,
);

let database: DashboardDatabase;
let empty: DashboardDatabase;

beforeAll(async () => {
  [database, empty] = await Promise.all([createDashboardDatabase(), createDashboardDatabase()]);
  await database.fill(stored);
  await rollUp(database.client);
});
afterAll(() => Promise.all([database?.drop(), empty?.drop()]));

const cases = dashboards().flatMap((dashboard) =>
  panelsOf(dashboard)
    .filter((panel) => sqlTargetsOf({ panels: [panel] } as never).length > 0)
    .map((panel) => ({ uid: dashboard.uid ?? '', title: panel.title ?? '', dashboard, panel })),
);

/** Multi-valued ones have all options, the others the first, as in Grafana; the text box has a request's id. */
async function selected(dashboard: (typeof cases)[number]['dashboard'], on: DashboardDatabase): Promise<Variables> {
  const typed: Variables = dashboard.uid === REQUEST.uid ? { trace_id: [whole ? hex(whole) : ''] } : {};
  return on.optionsOf(dashboard, typed);
}

/** Only SQL: what a panel asks of Prometheus besides is tested there. */
function run(panel: Panel, variables: Variables, on: DashboardDatabase): Promise<Frame[]> {
  return runPanel(panel, interpolationWith(variables), on.sources);
}

/** What Grafana's panels need of a frame, beyond the columns that options and overrides name. */
function expectShape(panel: Panel, frames: readonly Frame[]): void {
  expect(frames).toHaveLength(1);
  const [frame] = frames as [Frame];
  const types = frame.fields.map(({ type }) => type);
  if (panel.type === 'barchart') {
    const { xField } = panel.options as { xField: string };
    expect(frame.fields.find(({ name }) => name === xField)?.type).toBe('string');
    expect(types).toContain('number');
    expect(types).not.toContain('time');
    // Two rows of one name would lie on top of each other.
    const names = rowsOf(frame).map((row) => row[xField]);
    expect(new Set(names).size).toBe(names.length);
  }
  if (panel.type === 'xychart') {
    const { series } = panel.options as { series: Record<'x' | 'y', { matcher: { options: string } }>[] };
    for (const { x, y } of series) {
      for (const { matcher } of [x, y]) {
        expect(frame.fields.find(({ name }) => name === matcher.options)?.type).toBe('number');
      }
    }
  }
  if (panel.type === 'timeseries') {
    const times = frame.fields.find(({ type }) => type === 'time')?.values as Date[];
    expect(times.map(Number)).toEqual(times.map(Number).toSorted((a, b) => a - b));
  }
  if (panel.type === 'stat') expect(types.filter((type) => type === 'number')).toHaveLength(1);
  expect(frame.fields.length).toBeGreaterThan(0);
}

describe.each(cases)('$uid: $title', ({ uid, dashboard, panel }) => {
  test('with All it has rows of the shape that its panel needs', async () => {
    const frames = await run(panel, await selected(dashboard, database), database);
    expectShape(panel, frames);
    expect(frames.flatMap(knownRowsOf).length).toBeGreaterThan(0);
  });

  test('with one and with several values of each variable it runs', async () => {
    const all = await selected(dashboard, database);
    for (const [name, options] of Object.entries(all)) {
      await run(panel, { ...all, [name]: options.slice(0, 1) }, database);
      await run(panel, { ...all, [name]: options.slice(0, 2) }, database);
    }
  });

  test('without data it is empty, not an error', async () => {
    const frames = await run(panel, await selected(dashboard, empty), empty);
    expect(frames.flatMap(knownRowsOf).filter((row) => row['requests'] !== 0)).toEqual([]);
  });

  test('a value that would break out of its quotes finds nothing', async () => {
    const all = await selected(dashboard, database);
    const variables = Object.fromEntries(Object.keys(all).map((name) => [name, ["x' OR 'a'='a"]]));
    if (Object.keys(variables).length === 0) return;
    const frames = await run(panel, variables, database);
    expect(frames.flatMap(knownRowsOf).filter((row) => row['requests'] !== 0)).toEqual([]);
  });

  test('every override and link names columns that the query yields', async () => {
    for (const { rawSql } of sqlTargetsOf({ panels: [panel] } as never)) {
      const { fields } = await database.query(rawSql, await selected(dashboard, database));
      const columns = fields.map((field) => field.name);
      for (const { matcher, properties } of panel.fieldConfig?.overrides ?? []) {
        if (matcher.id === 'byName') expect(columns).toContain(matcher.options);
        for (const [, column] of JSON.stringify(properties).matchAll(/__data\.fields\.(\w+)/g)) {
          expect(columns).toContain(column);
        }
      }
      const inOptions = JSON.stringify(panel.options).matchAll(/"(?:id":"byName","options|xField)":"([^"]+)"/g);
      for (const [, column] of inOptions) expect(columns).toContain(column);
    }
  });

  test('of the requests it reads only the partitions of its time range', async () => {
    for (const { rawSql } of sqlTargetsOf({ panels: [panel] } as never)) {
      if (uid === REQUEST.uid || !rawSql.includes('FROM requests')) continue;
      const { rows } = await database.query(`EXPLAIN ${rawSql}`, await selected(dashboard, database));
      const scanned = rows.map((row) => String(row['QUERY PLAN']).match(/ on (requests_\d+)/)?.[1]).filter(Boolean);
      expect([...new Set(scanned)].sort()).toEqual(
        ['08', '09', '10', '11', '12'].map((day) => `requests_202603${day}`),
      );
    }
  });
});
