import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPool } from '../../ingest/store/connection.ts';
import { dropExpired } from '../../ingest/store/partitions.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { until } from './serviceWait.ts';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let running: RunningService[] = [];
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const service of running) await service.stop();
  running = [];
  await database.drop();
});

async function open(env: NodeJS.ProcessEnv = {}): Promise<RunningService> {
  const service = await openService({ databaseUrl: database.url, env });
  running.push(service);
  return service;
}

function day(offset: number): string {
  return new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
}
const nameOf = (offset: number) => `requests_${day(offset).replaceAll('-', '')}`;

async function makePartition(offset: number): Promise<void> {
  await query(
    database.url,
    `CREATE TABLE ${nameOf(offset)} PARTITION OF requests FOR VALUES FROM ('${day(offset)}') TO ('${day(offset + 1)}')`,
  );
  await query(
    database.url,
    `INSERT INTO requests (trace_id, day, started_at, updated_at) VALUES (gen_random_uuid(), '${day(offset)}', now(), now())`,
  );
}

const partitions = () =>
  query<{ name: string }>(
    database.url,
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'requests'::regclass ORDER BY 1`,
  ).then((rows) => rows.map(({ name }) => name));
const tables = () =>
  query<{ name: string }>(
    database.url,
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname ~ '^requests_' ORDER BY 1`,
  ).then((rows) => rows.map(({ name }) => name));

test('yesterday to two days ahead are there from the start, also when several start at once', async () => {
  await Promise.all([open(), open(), open()]);
  expect(await partitions()).toEqual([nameOf(-1), nameOf(0), nameOf(1), nameOf(2)]);
});

test('a day that is missing is made when the first event needs it; none is lost', async () => {
  const service = await open();
  await query(database.url, `DROP TABLE ${nameOf(0)}`);
  const keys = Array.from({ length: 40 }, traceId);
  const answers = await Promise.all(keys.map((trace_id) => service.postTimings(serverRecord({ trace_id }))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(await query(database.url, `SELECT count(*)::int AS rows FROM ${nameOf(0)}`)).toEqual([{ rows: 40 }]);
});

describe('days that have expired', () => {
  test('are dropped at the start, and the last one that counts is kept', async () => {
    for (const offset of [-9, -8, -7]) await makePartition(offset);
    const service = await open({ RETENTION_DAYS: '7' });
    expect(await tables()).toEqual([nameOf(-7), nameOf(-1), nameOf(0), nameOf(1), nameOf(2)]);
    expect(service.log).toContainEqual(
      expect.objectContaining({ message: 'dropped expired days', partitions: [nameOf(-9), nameOf(-8)] }),
    );
  });

  test('that are still being read do not stop the start, nor hold up writers; they go when their reader has gone', async () => {
    await makePartition(-40);
    const service = await open({ RETENTION_DAYS: '3650' });
    const reader = new pg.Client(database.url);
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM requests');
    const pool = createPool(database.url);
    try {
      // The first post also connects, which is not what is tested.
      await service.postBeacons(beacon({ trace_id: traceId() }));
      const dropping = dropExpired(pool, 30);
      let over = false;
      void dropping.finally(() => {
        over = true;
      });
      const posting = (async () => {
        while (!over) expect((await service.postBeacons(beacon({ trace_id: traceId() }))).status).toBe(202);
      })();
      while (!over) {
        const waiting = await query(
          database.url,
          `SELECT left(query, 40) AS query FROM pg_stat_activity
           WHERE application_name = 'firsttoken-writer' AND wait_event_type = 'Lock' AND datname = current_database()`,
        );
        expect(waiting).toEqual([]);
      }
      await posting;
      expect(await dropping).toEqual({ dropped: [], busy: [nameOf(-40)] });

      const second = await open({ RETENTION_DAYS: '30' });
      expect((await second.postBeacons(beacon({ trace_id: traceId() }))).status).toBe(202);
      expect(await tables()).toContain(nameOf(-40));

      await reader.query('COMMIT');
      await until('the expired day to go', async () => {
        await dropExpired(pool, 30);
        return !(await tables()).includes(nameOf(-40));
      });
      expect(await partitions()).toEqual([nameOf(-1), nameOf(0), nameOf(1), nameOf(2)]);
    } finally {
      await reader.end();
      await pool.end();
    }
  });

  test('that a stopped process left detached are dropped; another table keeps its rows', async () => {
    await makePartition(-40);
    await query(database.url, `ALTER TABLE requests DETACH PARTITION ${nameOf(-40)}`);
    await query(database.url, 'CREATE TABLE requests_of_mine AS SELECT 1 AS kept');
    await open({ RETENTION_DAYS: '30' });
    expect(await tables()).toEqual([nameOf(-1), nameOf(0), nameOf(1), nameOf(2), 'requests_of_mine']);
  });

  test('are dropped once by many at the same time', async () => {
    for (const offset of [-33, -32, -31]) await makePartition(offset);
    await Promise.all([open(), open(), open()]);
    await until('the expired days to go', async () => (await tables()).length === 4, 5_000);
  });
});
