import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import { ROLLUP_STAGES } from '../../contract/rollups.ts';
import { STAGES_PAGE } from '../../dashboards/config.ts';
import { stagesPage } from '../../dashboards/stagesPage.ts';
import { createDashboardDatabase, type DashboardDatabase } from './dashboardDatabase.ts';
import { rollUp } from './dashboardRollups.ts';
import { groupBy, panelRows } from './dashboardRows.ts';
import { FROM, hex, inRange, labelOf, logId, nearestRank, type Stored, sampleRequests, TO } from './dashboardSample.ts';

const stored = sampleRequests();
const dashboard = stagesPage();
const ids = STAGES_PAGE.panelIds;
let database: DashboardDatabase;
let options: Record<string, string[]>;

beforeAll(async () => {
  database = await createDashboardDatabase();
  await database.fill(stored);
  await rollUp(database.client);
  options = await database.optionsOf(dashboard);
});
afterAll(() => database?.drop());

describe.each([[[]], [['llama-3.1']], [["o'brien", 'other']]])('models %j', (models) => {
  let variables: Record<string, string[]>;
  let ofModels: Stored[];

  beforeAll(() => {
    variables = models.length > 0 ? { model: models } : options;
    ofModels = stored.filter((row) => variables['model']?.includes(labelOf(row, 'model')));
  });

  /** Durations in milliseconds that the rollups count: of whole hours, unless the machine slept. */
  function durations(stage: (typeof ROLLUP_STAGES)[number]): number[] {
    // The sample has no painting.
    if (stage === 'render') return [];
    return ofModels
      .filter((row) => row.started_at >= FROM && row.started_at.getTime() < TO.getTime() + 3_600_000)
      .filter((row) => !(row.flags & FLAG_BITS.suspended) && (stage !== 'unattributed' || row.server_ttft_ns !== null))
      .flatMap((row) => (row[`${stage}_ns`] === null ? [] : [Number(row[`${stage}_ns`]) / 1e6]));
  }

  test('the summary has every stage, within 1 %, in order', async () => {
    const rows = await panelRows(database, dashboard, ids.summary, variables);
    const expected = ROLLUP_STAGES.filter((stage) => durations(stage).length > 0);
    expect(rows.map((row) => row['stage'])).toEqual(expected);
    const whole = expected.flatMap(durations).reduce((sum, each) => sum + each, 0);
    for (const row of rows) {
      const values = durations(row['stage'] as (typeof ROLLUP_STAGES)[number]);
      expect(row['requests']).toBe(values.length);
      for (const [name, share] of [['p50', 0.5] as const, ['p95', 0.95] as const, ['p99', 0.99] as const]) {
        const exact = nearestRank(values, share);
        expect(Math.abs(Number(row[name]) - exact)).toBeLessThanOrEqual(exact * 0.01 + 1e-3);
      }
      const sum = values.reduce((total, each) => total + each, 0);
      expect(Number(row['share'])).toBeCloseTo(sum / whole, 2);
    }
  });

  test('the queue lies against the batch', async () => {
    const rows = await panelRows(database, dashboard, ids.queueAndBatch, variables);
    const expected = ofModels
      .filter((row) => inRange(row) && row.batch_size !== null && row.queue_ns !== null)
      .sort((a, b) => b.started_at.getTime() - a.started_at.getTime())
      .map((row) => ({
        batch_size: row.batch_size,
        queue: Number(row.queue_ns) / 1e6,
        first_token: Number(row.first_token_ns) / 1e6,
        trace_id: hex(row),
        log_id: logId(row),
      }));
    expect(rows).toEqual(expected);
  });

  test('sub-stages have their percentiles, the costliest first', async () => {
    const rows = await panelRows(database, dashboard, ids.subStages, variables);
    const parts = ofModels.filter(inRange).flatMap((row) => Object.entries(row.sub_stages_ns ?? {}));
    const expected = [...groupBy(parts, ([name]) => name)]
      .map(([name, entries]) => ({ name, values: entries.map(([, ns]) => ns / 1e6) }))
      .sort((a, b) => sum(b.values) - sum(a.values))
      .map(({ name, values }) => ({
        name,
        requests: values.length,
        p50: expect.closeTo(nearestRank(values, 0.5), 6),
        p95: expect.closeTo(nearestRank(values, 0.95), 6),
      }));
    expect(rows).toEqual(expected);
  });
});

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
