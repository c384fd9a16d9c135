import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FLAG_BITS, flagsOf } from '../../contract/flags.ts';
import { FIRST_TOKEN } from '../../dashboards/config.ts';
import { firstToken } from '../../dashboards/firstToken.ts';
import { HOUR_COLUMNS } from '../../dashboards/queries/clientTtftByHour.ts';
import { BAND_LABELS } from '../../dashboards/queries/completionByBand.ts';
import { WATERFALL_PARTS } from '../../dashboards/queries/slowestRequests.ts';
import { targetsOf } from '../../dashboards/runner/runPanel.ts';
import { DIMENSIONS, type Dimension } from '../../dashboards/variables/dimensions.ts';
import { createDashboardDatabase, type DashboardDatabase } from './dashboardDatabase.ts';
import { rollUp } from './dashboardRollups.ts';
import {
  dominant,
  hex,
  inRange,
  inWholeHours,
  labelOf,
  localHour,
  logId,
  nearestRank,
  percentile,
  type Stored,
  sampleRequests,
  steady,
  tenSlowest,
} from './dashboardSample.ts';

type Row = Record<string, unknown>;

let database: DashboardDatabase;

beforeAll(async () => {
  database = await createDashboardDatabase();
});
afterAll(() => database?.drop());

const dashboard = firstToken();

function sqlOf(panelId: number): string {
  const panel = dashboard.panels?.find((each) => each.id === panelId) as Panel;
  return targetsOf(panel)[0]?.rawSql ?? '';
}

async function run(rawSql: string, variables: Record<string, readonly string[]>): Promise<pg.QueryResult<Row>> {
  return database.query(rawSql, variables);
}

const known = (rows: readonly Row[]) => rows.filter((row) => Object.values(row).some((value) => value !== null));

describe('with rows', () => {
  let stored: Stored[];
  let options: Record<string, string[]>;

  beforeAll(async () => {
    stored = sampleRequests();
    await database.fill(stored);
    await rollUp(database.client);
    options = await database.optionsOf(dashboard);
  });

  const selections: readonly (readonly [string, (all: Record<string, string[]>) => Record<string, string[]>])[] = [
    ['All', (all) => all],
    ['one model', (all) => ({ ...all, model: ['llama-3.1'] })],
    ['a name with a quote', (all) => ({ ...all, model: ["o'brien"] })],
    ['several', (all) => ({ ...all, route: ['/api/chat', '/api/a"b'], device: ['mobile', 'desktop'] })],
    ['nobody named it', (all) => ({ ...all, region: ['unknown'] })],
    ['beyond the cap', (all) => ({ ...all, model: ['other'] })],
    ['what matches nothing', (all) => ({ ...all, model: ["x' OR 'a'='a"] })],
  ];

  describe.each(selections)('%s', (name, select) => {
    let variables: Record<string, string[]>;
    let chosen: Stored[];
    let visible: Stored[];
    /** Of what the rollups answer, of whole hours. */
    const ofRollups = (...dimensions: readonly Dimension[]) =>
      DIMENSIONS.every((each) => dimensions.includes(each) || variables[each] === options[each]);

    beforeAll(() => {
      variables = select(options);
      chosen = stored.filter((row) => DIMENSIONS.every((each) => variables[each]?.includes(labelOf(row, each))));
      visible = chosen.filter(inRange);
    });

    test('the sample has what is asked for', () => {
      if (name === 'what matches nothing') expect(visible).toHaveLength(0);
      else expect(visible.length).toBeGreaterThan(5);
      if (name === 'All') expect(visible).toHaveLength(stored.filter(inRange).length);
    });

    test('requests are counted', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.requestCount), variables);
      expect(rows).toEqual([{ requests: String(visible.filter((row) => !(row.flags & FLAG_BITS.suspended)).length) }]);
    });

    test('the longest gap is exact and leads to its stream', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.longestGap), variables);
      const expected = visible
        .filter((row) => row.gap_max_ms !== null && steady(row))
        .sort((a, b) => Number(b.gap_max_ms) - Number(a.gap_max_ms))[0];
      expect(rows).toEqual(
        expected ? [{ gap_max_ms: expected.gap_max_ms, trace_id: hex(expected), log_id: logId(expected) }] : [],
      );
    });

    test('the scatter has every steady stream', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.ttftTpotScatter), variables);
      const expected = visible
        .filter((row) => row.ttft_ms !== null && row.tpot_ms !== null && steady(row))
        .sort((a, b) => b.started_at.getTime() - a.started_at.getTime())
        .map((row) => ({
          ttft_ms: row.ttft_ms,
          tpot_ms: row.tpot_ms,
          prompt_chars: String(row.prompt_chars ?? (row.prompt_tokens === null ? -1 : row.prompt_tokens * 4)),
          model: row.model,
          route: row.route,
          region: row.region,
          device: row.device,
          output_tokens: row.output_tokens,
          trace_id: hex(row),
          log_id: logId(row),
        }));
      expect(known(rows)).toEqual(expected);
    });

    test('completion is counted by band', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.completionByBand), variables);
      const ended = (ofRollups('variant') ? chosen.filter(inWholeHours) : visible).filter(
        (row) => row.ttft_ms !== null && row.status !== 'streaming' && !(row.flags & FLAG_BITS.suspended),
      );
      const bands = [100, 300, 1000, Number.POSITIVE_INFINITY].map((limit, index, limits) =>
        ended.filter((row) => Number(row.ttft_ms) <= limit && Number(row.ttft_ms) > (limits[index - 1] ?? -1)),
      );
      const expected = bands.flatMap((band, index) =>
        band.length === 0
          ? []
          : [
              {
                ttft: `${BAND_LABELS[index]} (${band.length})`,
                completed: band.filter((row) => row.status === 'complete').length / band.length,
              },
            ],
      );
      expect(rows).toEqual(expected);
    });

    test('hours by region and device have their p95', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.clientTtftByHour), variables);
      const rolledUp = ofRollups('model', 'region', 'device');
      const seen = (rolledUp ? chosen.filter(inWholeHours) : visible).filter(
        (row) => row.ttft_ms !== null && !(row.flags & FLAG_BITS.suspended),
      );
      const cells = byCell(seen);
      expect(new Set(rows.map((row) => row['region / device']))).toEqual(new Set(cells.keys()));
      for (const row of rows) {
        const cell = cells.get(String(row['region / device'])) ?? [];
        const slowest = cell.toSorted((a, b) => Number(b.ttft_ms) - Number(a.ttft_ms))[0];
        expect(row['requests']).toBe(String(cell.length));
        // Nothing is picked here.
        expect(row['trace_id']).toBe(rolledUp ? null : slowest && hex(slowest));
        expect(row['log_id']).toBe(rolledUp ? null : slowest && logId(slowest));
        for (const hour of HOUR_COLUMNS) {
          const values = cell.filter((each) => localHour(each) === Number(hour)).map((each) => Number(each.ttft_ms));
          if (values.length === 0) expect(row[hour]).toBeNull();
          else if (rolledUp) expect(Number(row[hour]) / nearestRank(values, 0.95)).toBeCloseTo(1, 2 - Math.log10(2));
          else expect(row[hour]).toBeCloseTo(percentile(values, 0.95), 6);
        }
      }
    });

    test('the waterfall has the ten slowest, and its bars are as long as the client waited', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.attributionWaterfall), variables);
      const slowest = tenSlowest(visible);
      expect(rows.map((row) => row['trace_id'])).toEqual(slowest.map(hex));
      for (const [index, row] of rows.entries()) {
        const request = slowest[index] as Stored;
        for (const part of WATERFALL_PARTS) {
          const ns = request[`${part}_ns`];
          expect(row[part]).toEqual(ns === null ? null : Number(ns) / 1e6);
        }
        const length = WATERFALL_PARTS.reduce((sum, part) => sum + Number(row[part] ?? 0), 0);
        expect(length).toBeCloseTo(Number(request.ttft_ms), 6);
        expect(row['request']).toBe(
          `${hex(request).slice(0, 8)} ${request.model ?? 'unknown'}: ${dominant(request)[0]}`,
        );
        expect(row['log_id']).toBe(logId(request));
      }
    });

    test('the table has the same ten, with their facts', async () => {
      const { rows } = await run(sqlOf(FIRST_TOKEN.panelIds.slowestRequests), variables);
      const expected = tenSlowest(visible).map((row) => ({
        started_at: row.started_at,
        model: row.model,
        route: row.route,
        region: row.region,
        device: row.device,
        ttft_client: row.ttft_ms,
        ttft_server: Number(row.server_ttft_ns) / 1e6,
        tpot: row.tpot_ms,
        dominant_stage: dominant(row)[0],
        dominant_share: expect.closeTo(dominant(row)[1] / 1e6 / Number(row.ttft_ms), 9),
        flags: flagsOf(row.flags).join(', '),
        status: row.status,
        trace_id: hex(row),
        log_id: logId(row),
      }));
      expect(rows).toEqual(expected);
    });
  });
});

function byCell(rows: readonly Stored[]): Map<string, Stored[]> {
  const cells = new Map<string, Stored[]>();
  for (const row of rows) {
    const cell = `${labelOf(row, 'region')} / ${labelOf(row, 'device')}`;
    cells.set(cell, [...(cells.get(cell) ?? []), row]);
  }
  return cells;
}
