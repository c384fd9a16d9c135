import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { scrape } from './serviceMetrics.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Days far from today, so that no test depends on when it runs. */
const FIRST_DAY = '2031-03-01';
const SECOND_DAY = '2031-03-02';
const MIDNIGHT = Date.parse(SECOND_DAY);

let database: TestDatabase;
let services: RunningService[];
beforeEach(async () => {
  database = await createDatabase();
  await query(database.url, 'CREATE SEQUENCE clock_ms MINVALUE 0');
  await query(database.url, 'CREATE SEQUENCE clock_spread_ms MINVALUE 0 START 0');
  // A sequence has no snapshot: the clock moves for everybody at once. Statements of one transaction may differ, as they must not
  // with now(), so a transaction keeps what it saw first.
  await query(
    database.url,
    `CREATE FUNCTION test_now() RETURNS timestamptz LANGUAGE plpgsql AS $$
     DECLARE seen text := current_setting('test.now', true);
     BEGIN
       IF seen IS NULL OR seen = '' THEN
         SELECT (last_value + floor(random() * ((SELECT last_value FROM clock_spread_ms) + 1)))::bigint::text INTO seen FROM clock_ms;
         PERFORM set_config('test.now', seen, true);
       END IF;
       RETURN to_timestamp(seen::bigint / 1000.0);
     END $$`,
  );
  services = [];
  for (let instance = 0; instance < 2; instance += 1)
    services.push(await openService({ databaseUrl: database.url, now: 'test_now()', env: { JOIN_WAIT: '3600' } }));
  for (const offset of [-2, -1, 0, 1]) {
    const [from, to] = [offset, offset + 1].map((days) =>
      new Date(MIDNIGHT + days * DAY_MS).toISOString().slice(0, 10),
    );
    for (const table of ['requests', 'request_arrivals'])
      await query(
        database.url,
        `CREATE TABLE ${table}_${from!.replaceAll('-', '')} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
  }
});
afterEach(async () => {
  for (const service of services) await service.stop();
  await database.drop();
});

const setClock = (ms: number) => query(database.url, `SELECT setval('clock_ms', ${MIDNIGHT + ms})`);
const rowsOf = (key: string) =>
  query<{ day: string; started_at: Date; whole: boolean }>(
    database.url,
    `SELECT day::text, started_at, (server_ttft_ns = 19 AND ttft_ms = 412.3 AND settled) IS TRUE AS whole FROM requests WHERE trace_id = $1`,
    [key],
  );

describe.each([
  ['server', 'client'],
  ['client', 'server'],
])('the %s half before midnight, the %s half after it', (first) => {
  const halves = [
    (service: RunningService, trace_id: string) => service.postTimings(serverRecord({ trace_id })),
    (service: RunningService, trace_id: string) => service.postBeacons(beacon({ trace_id, since_start_ms: 5_000 })),
  ];
  const [before, after] = first === 'server' ? halves : halves.reverse();

  test.each([
    [-1, 0],
    [-1, 1],
    [-30_000, 30_000],
    [-61_000, 61_000],
    [-DAY_MS, DAY_MS - 1],
    [-1, DAY_MS - 1],
  ])('%i ms and %i ms: one row, of the first day', async (beforeMs, afterMs) => {
    const key = traceId();
    await setClock(beforeMs);
    expect((await before!(services[0]!, key)).status).toBe(202);
    const [row] = await rowsOf(key);
    expect(row).toMatchObject({ day: FIRST_DAY, whole: false });
    await setClock(afterMs);
    expect((await after!(services[1]!, key)).status).toBe(202);
    expect(await rowsOf(key)).toEqual([{ ...row, whole: true }]);
    expect((await services[1]!.read(key)).json).toMatchObject({ joined: true });
    // After a day the first half may have settled alone.
    if (afterMs - beforeMs > HOUR_MS) return;
    const metrics = await scrape(...services);
    expect(metrics.sum('ttft_seconds_count')).toBe(1);
    expect(metrics.sum('hidden_tax_seconds_count')).toBe(1);
    expect(metrics.sum('firsttoken_joined_total')).toBe(1);
  });
});

test('a key is not looked for before yesterday: a late half makes a row of its own day', async () => {
  const key = traceId();
  await setClock(-DAY_MS - 1);
  await services[0]!.postTimings(serverRecord({ trace_id: key }));
  await setClock(0);
  await services[1]!.postBeacons(beacon({ trace_id: key }));
  expect((await rowsOf(key)).map(({ day }) => day).sort()).toEqual(['2031-02-28', SECOND_DAY]);
  expect((await services[0]!.read(key)).json).toMatchObject({ joined: false, server: null, status: 'complete' });
});

test('at midnight itself, both halves of 400 requests come to both instances at once: one row each', async () => {
  // One transaction is still in the old day, the next one in the new day, and the one after it in the old one again.
  await setClock(-2);
  await query(database.url, `SELECT setval('clock_spread_ms', 3)`);
  const keys = Array.from({ length: 400 }, traceId);
  for (let start = 0; start < keys.length; start += 40) {
    const own = keys.slice(start, start + 40);
    const [one, other] = start % 80 ? services : [...services].reverse();
    const posts = own.flatMap((trace_id) => [
      one!.postTimings(serverRecord({ trace_id })),
      other!.postBeacons(beacon({ trace_id })),
      other!.postTimings(serverRecord({ trace_id })),
    ]);
    posts.push(one!.postTimings(...own.map((trace_id) => serverRecord({ trace_id }))));
    posts.push(other!.postBeacons(...own.reverse().map((trace_id) => beacon({ trace_id }))));
    expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(new Set([202]));
  }
  const days = await query<{ day: string; rows: number; keys: number; whole: boolean }>(
    database.url,
    `SELECT count(*)::int AS rows, count(DISTINCT trace_id)::int AS keys, bool_and(settled AND network_ns = 412299979) AS whole,
       count(DISTINCT day)::int AS days FROM requests`,
  );
  expect(days).toEqual([{ rows: 400, keys: 400, whole: true, days: 2 }]);
  const metrics = await scrape(...services);
  for (const name of [
    'ttft_seconds_count',
    'ttft_client_seconds_count',
    'tpot_seconds_count',
    'hidden_tax_seconds_count',
    'firsttoken_joined_total',
  ])
    expect([name, metrics.sum(name)]).toEqual([name, 400]);
});

describe('the start that a server states', () => {
  beforeEach(() => setClock(0));
  const startOfToday = () => Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const post = (key: string, started_at: string) =>
    services[0]!.postTimings(serverRecord({ trace_id: key, started_at }));
  const iso = (ms: number) => new Date(ms).toISOString();

  test('before yesterday: too late', async () => {
    const key = traceId();
    const answer = await post(key, iso(startOfToday() - DAY_MS - 1));
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'too_late' } } });
    expect((await services[0]!.read(key)).status).toBe(404);
  });

  test('within a day is kept, to the millisecond, whatever comes later', async () => {
    const key = traceId();
    const startedAt = iso(Date.now() - 3_600_000);
    await post(key, startedAt);
    await services[1]!.postBeacons(beacon({ trace_id: key, since_start_ms: 10_000 }));
    await post(key, iso(Date.now()));
    expect((await services[0]!.read(key)).json).toMatchObject({ started_at: startedAt, flags: [] });
  });

  test.each([
    ['in an hour', 3_600_000],
    ['in five minutes and some', 301_000],
    ['in a hundred years', 36_500 * DAY_MS],
  ])('%s: the time of arrival stands for it, flagged', async (_, ms) => {
    const key = traceId();
    const before = Date.now();
    expect((await post(key, iso(before + ms))).status).toBe(202);
    const { json } = await services[0]!.read(key);
    expect(json.flags).toEqual(['started_at_replaced']);
    expect(Date.parse(json.started_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(json.started_at)).toBeLessThanOrEqual(Date.now());
  });

  test('more than 24 h ago and yet yesterday is replaced too, when there is such a time', async () => {
    const key = traceId();
    const startedAt = startOfToday() - DAY_MS;
    if (startedAt > Date.now() - DAY_MS) return;
    await post(key, iso(startedAt));
    expect((await services[0]!.read(key)).json.flags).toEqual(['started_at_replaced']);
  });

  test.each(['yesterday', '2026-13-01T00:00:00Z', '2026-12-01T08:00:00', '1764576000', '2026-12-01T08:00:00+1'])(
    '%s is no time',
    async (text) => {
      expect(await post(traceId(), text)).toMatchObject({ status: 400, json: { error: { code: 'invalid_field' } } });
    },
  );
});
