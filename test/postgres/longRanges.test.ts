import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dashboards } from '../../dashboards/artefacts.ts';
import { rowsOf } from '../../dashboards/runner/frame.ts';
import { runPanel } from '../../dashboards/runner/runPanel.ts';
import { readVariables } from '../../dashboards/runner/variables.ts';
import { backfill } from '../../demo/backfill/backfill.ts';
import { createDatabase, type TestDatabase } from './database.ts';

const HOUR_MS = 3_600_000;
const THIS_HOUR_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
/** Hours that are all picked by now. */
const WHOLE_DAY = { from: new Date(THIS_HOUR_MS - 26 * HOUR_MS), to: new Date(THIS_HOUR_MS - 2 * HOUR_MS - 1) };
const LABELS = ['model', 'route', 'variant', 'tier', 'region'];

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  pool.on('error', () => {});
  await backfill({ pool, hours: 30, rowsPerHour: 400, seed: 5 });
}, 60_000);
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

type Row = Record<string, unknown>;
const select = async (sql: string, values: unknown[] = []): Promise<Row[]> => (await pool.query<Row>(sql, values)).rows;

/** The rows of a panel with all options chosen, and with all chosen that are in use: then requests are read, though they are the same ones. */
async function bothWays(uid: string, title: string, range: { from: Date; to: Date }): Promise<[Row[], Row[]]> {
  const dashboard = dashboards().find((each) => each.uid === uid)!;
  const chosen = await valuesOf(dashboard, range);
  const panel = (dashboard.panels as Panel[]).find((each) => each.title === title)!;
  const rows = async () => {
    const sql = (statement: string) => pool.query<Row>(statement);
    const [frame] = await runPanel(panel, { ...range, timezone: 'UTC', variables: chosen }, { sql });
    return rowsOf(frame!);
  };
  const whole = await rows();
  await pool.query(`INSERT INTO label_values (label, value) SELECT unnest($1::text[]), 'in no request'`, [LABELS]);
  const narrowed = await rows();
  await pool.query(`DELETE FROM label_values WHERE value = 'in no request'`);
  return [whole, narrowed];
}

async function valuesOf(
  dashboard: Dashboard,
  range: { from: Date; to: Date },
): Promise<Record<string, readonly string[]>> {
  const variables = await readVariables(dashboard, {}, { ...range, timezone: 'UTC' }, (sql) => pool.query(sql));
  return Object.fromEntries(variables.map(({ name, values }) => [name, values]));
}

test.each([
  ['within hours', { from: new Date(THIS_HOUR_MS - 25.3 * HOUR_MS), to: new Date(THIS_HOUR_MS - 2.6 * HOUR_MS) }],
  ['whole hours', WHOLE_DAY],
])('requests are counted exactly: %s', async (_, range) => {
  const [rolledUp, counted] = await bothWays('first-token', 'Requests', range);
  expect(Number(rolledUp[0]!['requests'])).toBeGreaterThan(5_000);
  expect(rolledUp).toEqual(counted);
});

test('completion by band is the same', async () => {
  const [rolledUp, counted] = await bothWays('first-token', 'Completion by TTFT', WHOLE_DAY);
  expect(rolledUp.length).toBeGreaterThan(1);
  expect(rolledUp).toEqual(counted);
});

test('the table by hour has the same counts and the same slowest requests', async () => {
  const [rolledUp, counted] = await bothWays('first-token', 'Client TTFT p95 by hour, region and device', WHOLE_DAY);
  const ofRow = (row: Row) => [row['region / device'], row['requests'], row['trace_id'], row['log_id']];
  expect(rolledUp).toHaveLength(9);
  expect(rolledUp.map(ofRow)).toEqual(counted.map(ofRow));
});

const FIGURES = ['ttft_p50', 'ttft_p95', 'tpot_p50', 'tpot_p90', 'first_screen_p50'];

/** By exact nearest rank, from the requests. */
const exactVariants = () =>
  select(
    `SELECT variant, count(*) AS streams, avg((status = 'complete')::int)::float8 AS completed,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY ttft_ms) AS ttft_p50, percentile_disc(0.95) WITHIN GROUP (ORDER BY ttft_ms) AS ttft_p95,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY tpot_ms) AS tpot_p50, percentile_disc(0.9) WITHIN GROUP (ORDER BY tpot_ms) AS tpot_p90,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY first_screen_ms) AS first_screen_p50
     FROM requests WHERE started_at BETWEEN $1 AND $2 GROUP BY variant`,
    [WHOLE_DAY.from, WHOLE_DAY.to],
  );

test('which variant to serve: within 1 % from the rollups, near it from the sample', async () => {
  const [rolledUp, sampled] = await bothWays('variants', 'Which variant to serve', WHOLE_DAY);
  const exact = await exactVariants();
  for (const [rows, within] of [
    [rolledUp, 0.0101],
    [sampled, 0.15],
  ] as const) {
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      const of = exact.find(({ variant }) => String(row['variant']).endsWith(`: ${variant}`))!;
      for (const figure of FIGURES) expect(Math.abs(Number(row[figure]) / Number(of[figure]) - 1)).toBeLessThan(within);
      expect(Math.abs(Number(row['completed']) - Number(of['completed']))).toBeLessThan(
        rows === rolledUp ? 1e-9 : 0.05,
      );
    }
  }
  expect(rolledUp.map(({ streams }) => streams)).toEqual(
    rolledUp.map(({ variant }) =>
      Number(exact.find((of) => String(variant).endsWith(`: ${of['variant']}`))!['streams']),
    ),
  );
});

test('a sample stands for all requests of its hours', async () => {
  const [kinds] = await bothWays('where-and-when', 'Client TTFT by connection', WHOLE_DAY);
  const streams = kinds.map(({ connection }) => Number(/\((\d+)\)/.exec(String(connection))![1]));
  const [all] = await select('SELECT count(*)::int AS n FROM requests WHERE started_at BETWEEN $1 AND $2', [
    WHOLE_DAY.from,
    WHOLE_DAY.to,
  ]);
  const sum = streams.reduce((total, each) => total + each, 0);
  expect(Math.abs(sum - Number(all!['n']))).toBeLessThanOrEqual(kinds.length);
});

test('settings and sub-stages of a sample are near those of all', async () => {
  const [settings] = await bothWays('variants', 'By quantisation, decoding and temperature', WHOLE_DAY);
  const streams = settings.reduce((sum, row) => sum + Number(row['streams']), 0);
  const exact = (await exactVariants()).reduce((sum, row) => sum + Number(row['streams']), 0);
  expect(Math.abs(streams / exact - 1)).toBeLessThan(0.05);
  const [parts] = await bothWays('stages', 'Sub-stages', WHOLE_DAY);
  const [db] = await select(
    `SELECT count(*)::int AS requests, percentile_disc(0.5) WITHIN GROUP (ORDER BY (sub_stages_ns ->> 'db')::float8) / 1e6 AS p50
     FROM requests WHERE started_at BETWEEN $1 AND $2 AND sub_stages_ns ? 'db'`,
    [WHOLE_DAY.from, WHOLE_DAY.to],
  );
  expect(parts.map(({ name }) => name)).toContain('db');
  const found = parts.find(({ name }) => name === 'db')!;
  expect(Math.abs(Number(found['requests']) / Number(db!['requests']) - 1)).toBeLessThan(0.2);
  expect(Math.abs(Number(found['p50']) / Number(db!['p50']) - 1)).toBeLessThan(0.2);
});
