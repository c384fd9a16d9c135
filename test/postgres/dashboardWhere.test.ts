import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import { WHERE_AND_WHEN } from '../../dashboards/config.ts';
import { HOUR_COLUMNS } from '../../dashboards/queries/clientTtftByHour.ts';
import { MIN_STREAMS_PER_CELL, WHERE_DIMENSIONS } from '../../dashboards/queries/worstCells.ts';
import { rowsOf } from '../../dashboards/runner/frame.ts';
import { runPanel } from '../../dashboards/runner/runPanel.ts';
import { whereAndWhen } from '../../dashboards/whereAndWhen.ts';
import { createDashboardDatabase, type DashboardDatabase, interpolationWith, panelsOf } from './dashboardDatabase.ts';
import { rollUp } from './dashboardRollups.ts';
import { FROM, inRange, labelOf, localHour, nearestRank, type Stored, sampleRequests, TO } from './dashboardSample.ts';

const stored = sampleRequests();
const dashboard = whereAndWhen();
const ids = WHERE_AND_WHEN.panelIds;
let database: DashboardDatabase;
let options: Record<string, string[]>;

beforeAll(async () => {
  database = await createDashboardDatabase();
  await database.fill(stored);
  await rollUp(database.client);
  options = await database.optionsOf(dashboard);
});
afterAll(() => database?.drop());

async function rows(id: number, variables: Record<string, string[]>): Promise<Record<string, unknown>[]> {
  const panel = panelsOf(dashboard).find((each) => each.id === id) as Panel;
  const [frame] = await runPanel(panel, interpolationWith(variables), database.sources);
  return frame ? rowsOf(frame) : [];
}

const selections: readonly (readonly [string, Record<string, string[]>])[] = [
  ['All', {}],
  ['one model', { model: ['llama-3.1'] }],
  ['beyond the cap', { model: ['other'] }],
  ['two regions, one device', { region: ['eu-west', 'unknown'], device: ['mobile'] }],
];

describe.each(selections)('%s', (_, narrowed) => {
  let variables: Record<string, string[]>;
  let seen: Stored[];

  beforeAll(() => {
    variables = { ...options, ...narrowed };
    seen = stored.filter(
      (row) =>
        row.ttft_ms !== null &&
        !(row.flags & FLAG_BITS.suspended) &&
        WHERE_DIMENSIONS.every((each) => variables[each]?.includes(labelOf(row, each))),
    );
  });

  /** By region, device and hour, of the whole hours that touch the time range. */
  function cells(): Map<string, number[]> {
    const found = new Map<string, number[]>();
    const firstHour = Math.floor(FROM.getTime() / 3_600_000) * 3_600_000;
    for (const row of seen) {
      const hour = Math.floor(row.started_at.getTime() / 3_600_000) * 3_600_000;
      if (hour < firstHour || hour > TO.getTime()) continue;
      const key = [labelOf(row, 'region'), labelOf(row, 'device'), HOUR_COLUMNS[localHour(row)]].join('|');
      found.set(key, [...(found.get(key) ?? []), Number(row.ttft_ms)]);
    }
    return found;
  }

  /** Rollups are within 1 % of the exact percentile by nearest rank. */
  function expectWithinOnePercent(actual: unknown, values: readonly number[], share: number): void {
    const exact = nearestRank(values, share);
    expect(Math.abs(Number(actual) - exact)).toBeLessThanOrEqual(exact * 0.01 + 1e-9);
  }

  test('the worst cells are those of enough streams, worst first', async () => {
    const found = await rows(ids.worstCells, variables);
    const expected = [...cells()].filter(([, values]) => values.length >= MIN_STREAMS_PER_CELL);
    expect(found.map((row) => [row['region'], row['device'], row['hour']].join('|')).sort()).toEqual(
      expected.map(([key]) => key).sort(),
    );
    const p95s = found.map((row) => Number(row['p95']));
    expect(p95s).toEqual(p95s.toSorted((a, b) => b - a));
    for (const row of found) {
      const values = cells().get([row['region'], row['device'], row['hour']].join('|')) ?? [];
      expect(row['streams']).toBe(values.length);
      expectWithinOnePercent(row['p50'], values, 0.5);
      expectWithinOnePercent(row['p95'], values, 0.95);
    }
  });

  test('the table by hour has every cell', async () => {
    const found = await rows(ids.worstHours, variables);
    const expected = cells();
    let filled = 0;
    for (const row of found) {
      for (const hour of HOUR_COLUMNS) {
        const values = expected.get([row['region'], row['device'], hour].join('|'));
        if (values === undefined) expect(row[hour]).toBeNull();
        else {
          filled += 1;
          expectWithinOnePercent(row[hour], values, 0.95);
        }
      }
    }
    expect(filled).toBe(expected.size);
  });

  test('connections have their percentiles', async () => {
    const found = await rows(ids.connections, variables);
    const inside = seen.filter(inRange);
    const kinds = [...new Set(inside.map((row) => row.connection))];
    const expected = kinds.map((connection) => {
      const values = inside.filter((row) => row.connection === connection).map((row) => Number(row.ttft_ms));
      return {
        connection: `${connection ?? 'unknown'} (${values.length})`,
        p50: nearestRank(values, 0.5),
        p95: nearestRank(values, 0.95),
      };
    });
    expect(found).toHaveLength(expected.length);
    expect(found).toEqual(expect.arrayContaining(expected));
  });
});
