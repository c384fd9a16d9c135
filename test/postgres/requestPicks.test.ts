import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REQUEST_PICK_NAMES, REQUEST_PICKS } from '../../contract/requestPicks.ts';
import { dashboards } from '../../dashboards/artefacts.ts';
import { rowsOf } from '../../dashboards/runner/frame.ts';
import { runPanel } from '../../dashboards/runner/runPanel.ts';
import { readVariables } from '../../dashboards/runner/variables.ts';
import { backfill } from '../../demo/backfill/backfill.ts';
import { pickNextHour } from '../../ingest/store/requestPicks.ts';
import { createDatabase, type TestDatabase } from './database.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.now();

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  pool.on('error', () => {});
  await backfill({ pool, hours: 30, rowsPerHour: 400, seed: 3, nowMs: NOW_MS });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const select = async <T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> =>
  (await pool.query<T>(sql, values)).rows;

describe('what is picked', () => {
  test.each(REQUEST_PICK_NAMES)('%s: the first of each closed hour by its order, and of no open one', async (name) => {
    const { perHour, where, order } = REQUEST_PICKS[name];
    const picked = await select(
      `SELECT hour, array_agg(trace_id::text ORDER BY place) AS ids FROM request_picks WHERE pick = $1 GROUP BY hour ORDER BY hour`,
      [name],
    );
    const first = await select(
      `SELECT hour, array_agg(trace_id::text ORDER BY place) AS ids FROM (
         SELECT date_trunc('hour', started_at, 'UTC') AS hour, trace_id,
           row_number() OVER (PARTITION BY date_trunc('hour', started_at, 'UTC') ORDER BY ${order}) AS place
         FROM requests WHERE ${where} AND started_at < (SELECT picked_before FROM request_picks_progress)
       ) AS placed WHERE place <= ${perHour} GROUP BY hour ORDER BY hour`,
    );
    expect(picked.length).toBeGreaterThanOrEqual(28);
    expect(picked).toEqual(first);
  });

  test('an hour that is not over is left; picking again finds nothing to do', async () => {
    const [progress] = await select<{ picked_before: Date }>('SELECT picked_before FROM request_picks_progress');
    expect(progress!.picked_before.getTime()).toBeLessThanOrEqual(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
    expect(await pickNextHour(pool)).toBe(false);
  });

  test('two at once: one picks', async () => {
    await pool.query(`UPDATE request_picks_progress SET picked_before = picked_before - interval '5 hours'`);
    const before = await select('SELECT count(*)::int AS n FROM request_picks');
    const work = async (): Promise<void> => {
      for (let idle = 0; idle < 3; ) idle = (await pickNextHour(pool)) ? 0 : idle + 1;
    };
    await Promise.all([work(), work()]);
    expect(await select('SELECT count(*)::int AS n FROM request_picks')).toEqual(before);
  });
});

const dashboard = dashboards().find(({ uid }) => uid === 'slow-requests')!;
const panelOf = (title: string): Panel => (dashboard.panels as Panel[]).find((panel) => panel.title === title)!;

/** The rows of a panel, as the dashboards' role sees them. */
async function rowsFor(title: string, hours: number, chosen: Record<string, string[]> = {}) {
  const range = { from: new Date(NOW_MS - hours * HOUR_MS), to: new Date(NOW_MS), timezone: 'UTC' };
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('SET ROLE grafana_reader');
  const sql = (statement: string) => client.query(statement);
  const variables = await readVariables(dashboard, chosen, range, sql);
  const values = Object.fromEntries(variables.map(({ name, values: of }) => [name, of]));
  const [frame] = await runPanel(panelOf(title), { ...range, variables: values }, { sql });
  await client.end();
  return rowsOf(frame!);
}

const slowestSince = (hours: number, more = '') =>
  select<{ id: string }>(
    `SELECT replace(trace_id::text, '-', '') AS id FROM requests
     WHERE started_at BETWEEN to_timestamp($1::float8 / 1000) AND to_timestamp($2::float8 / 1000) ${more} ORDER BY ttft_ms DESC, trace_id LIMIT 10`,
    [NOW_MS - hours * HOUR_MS, NOW_MS],
  );

describe('panels', () => {
  test.each([1, 2.9, 3.1, 24, 29])('the ten slowest of %d hours are the ten slowest of all', async (hours) => {
    const shown = await rowsFor('The ten slowest, with their facts', hours);
    expect(shown.map(({ trace_id }) => trace_id)).toEqual((await slowestSince(hours)).map(({ id }) => id));
  });

  test('of one region too, as long as they are among the picks', async () => {
    const shown = await rowsFor('The ten slowest, with their facts', 24, { region: ['eu-west'] });
    const slowest = await slowestSince(24, `AND region = 'eu-west'`);
    expect(shown.map(({ trace_id }) => trace_id)).toEqual(slowest.map(({ id }) => id));
  });

  test('the scatter of a long range has points of every hour, each of a request', async () => {
    const points = await rowsFor('TTFT against TPOT', 24);
    expect(points.length).toBeGreaterThan(1_000);
    expect(points.length).toBeLessThanOrEqual(2_000);
    const ids = points.map(({ trace_id }) => String(trace_id));
    const [found] = await select<{ requests: number; hours: number }>(
      `SELECT count(*)::int AS requests, count(DISTINCT date_trunc('hour', started_at))::int AS hours FROM requests WHERE trace_id = ANY ($1::uuid[])`,
      [ids],
    );
    expect(found!.requests).toBe(points.length);
    expect(found!.hours).toBeGreaterThanOrEqual(23);
  });
});
