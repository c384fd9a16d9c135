import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foldRollups } from '../../ingest/store/rollupFold.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { expectExactRollups, foldedState } from './rollupRecount.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { openProxy } from './serviceProxy.ts';

let database: TestDatabase;
let pool: pg.Pool;
let cleanups: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  cleanups = [() => database.drop(), () => pool.end()];
});
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
});

async function open(databaseUrl = database.url): Promise<RunningService> {
  const service = await openService({ databaseUrl });
  cleanups.push(() => service.stop());
  return service;
}

/** One post: an event of either kind. */
type Event = { readonly server: object } | { readonly client: object };

/** Everything that can be said of one request, so that each order of it changes values, dimensions or both at other times. */
function eventsOf(trace_id: string): Event[] {
  return [
    {
      server: serverRecord({
        trace_id,
        variant: 'int4',
        tier: 'vip',
        timing_trace: '0,1000,500000,900000,0,0,90000000',
      }),
    },
    {
      server: serverRecord({
        trace_id,
        model: 'llama-b',
        route: '/b',
        timing_trace: '1,1000,500000,900000,70000000,70100000,70200000',
      }),
    },
    {
      client: {
        ...{
          v: 1,
          trace_id,
          seq: 1,
          status: 'streaming',
          ttft_ms: 99.5,
          arrivals_ms: [99.5, 180, 400],
          device: 'desktop',
        },
        ...{ timing_trace: '1,2,3,4,0,0,40000000', suspended: true, region: 'eu' },
      },
    },
    { client: beacon({ trace_id, seq: 2, region: 'us', suspended: false, render: { first_ms: 420.9, p50_ms: 3.3 } }) },
    {
      client: beacon({
        trace_id,
        seq: 3,
        status: 'error',
        ttft_ms: 0.05,
        arrivals_ms: [0.05, 20.5, 31],
        device: 'tablet',
        coalesced: true,
      }),
    },
  ];
}

async function post(service: RunningService, events: readonly Event[]): Promise<void> {
  const server = events.flatMap((event) => ('server' in event ? [event.server] : []));
  const client = events.flatMap((event) => ('client' in event ? [event.client] : []));
  for (const answer of await Promise.all([
    server.length > 0 ? service.postTimings(...server) : null,
    client.length > 0 ? service.postBeacons(...client) : null,
  ]))
    if (answer) expect(answer).toMatchObject({ status: 202, json: { rejected: [] } });
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

describe('rollups equal a recount of the rows', () => {
  test('after each step of every order of five halves, folded or not, on two instances', async () => {
    const services = [await open(), await open()] as const;
    const orders = ordersOf([0, 1, 2, 3, 4]).map((order) => {
      const events = eventsOf(traceId());
      return order.map((position) => events[position]!);
    });
    expect(orders.length).toBe(120);
    for (const step of [0, 1, 2, 3, 4]) {
      await Promise.all([
        post(
          services[0],
          orders.slice(0, 60).map((events) => events[step]!),
        ),
        post(
          services[1],
          orders.slice(60).map((events) => events[step]!),
        ),
      ]);
      expect(await expectExactRollups(database.url)).toBeGreaterThan(10);
      if (step % 2) await foldRollups(pool);
      await expectExactRollups(database.url);
    }
    // All once more, to the other instance: nothing changes.
    const deltas = (await foldedState(database.url)).deltas;
    await post(services[1], orders.slice(0, 60).flat());
    await post(services[0], orders.slice(60).flat());
    expect((await foldedState(database.url)).deltas).toBeLessThanOrEqual(deltas);
    await expectExactRollups(database.url);
  });

  test('after both halves within one post, twice', async () => {
    const service = await open();
    const events = Array.from({ length: 50 }, () => eventsOf(traceId())).flat();
    await post(service, [...events, ...events]);
    expect(await expectExactRollups(database.url)).toBeGreaterThan(10);
  });

  test('two instances on the same keys at once, while four fold', async () => {
    const services = [await open(), await open()] as const;
    const keys = Array.from({ length: 60 }, traceId);
    const writing = new AbortController();
    cleanups.push(async () => writing.abort());
    const folding = Array.from({ length: 4 }, async (_, number) => {
      while (!writing.signal.aborted) await foldRollups(pool, 1 + number);
    });
    const posts: Promise<void>[] = [];
    for (const round of [0, 1, 2])
      for (const position of [0, 1, 2, 3, 4])
        for (const [number, service] of services.entries())
          for (let start = 0; start < keys.length; start += 20) {
            const own = keys.slice(start, start + 20);
            const events = own.map((key, index) => eventsOf(key)[(position + index + number + round) % 5]!);
            posts.push(post(service, number ? events : events.reverse()));
          }
    await Promise.all(posts);
    writing.abort();
    await Promise.all(folding);
    expect(await query(database.url, 'SELECT count(*)::int AS rows FROM requests')).toEqual([{ rows: 60 }]);
    await expectExactRollups(database.url);
    while ((await foldRollups(pool)) > 0);
    expect((await foldedState(database.url)).deltas).toBe(0);
    expect(await expectExactRollups(database.url)).toBeGreaterThan(10);
  });

  test('answers of commits are lost, connections are cut, an instance is restarted', async () => {
    const proxy = await openProxy(database.url);
    cleanups.push(() => proxy.close());
    let service = await openService({ databaseUrl: proxy.url });
    for (const first of [0, 1, 3, 4]) {
      const requests = Array.from({ length: 12 }, () => eventsOf(traceId()));
      const nth = (position: number) => requests.map((events) => events[(first + position) % 5]!);
      const lost = proxy.loseNextCommit();
      const posted = post(service, nth(0));
      await lost;
      await posted;
      await expectExactRollups(database.url);
      for (const position of [1, 2, 3]) {
        const cut = post(service, nth(position));
        proxy.cut();
        await cut;
        await expectExactRollups(database.url);
      }
      await service.stop();
      service = await openService({ databaseUrl: proxy.url });
      await post(service, nth(4));
      expect(await expectExactRollups(database.url)).toBeGreaterThan(10);
    }
    await service.stop();
  });

  test('words of any spelling, and a start just before the hour', async () => {
    const service = await open();
    const words = ['a"b', "a'b", 'a\\b', '{a,b}', 'NULL', ' ', 'ünï 模型', 'other', 'unknown', 'x'.repeat(128)];
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const started = [new Date(hour - 1).toISOString(), new Date(hour).toISOString()];
    const records = words.map((word, index) =>
      serverRecord({ trace_id: traceId(), model: word, variant: word, started_at: started[index % 2]! }),
    );
    await post(
      service,
      records.map((server) => ({ server })),
    );
    await post(
      service,
      records.map(({ trace_id }) => ({ client: beacon({ trace_id, since_start_ms: Date.now() - hour + 0.7 }) })),
    );
    await post(
      service,
      words.map(() => ({ client: beacon({ trace_id: traceId(), since_start_ms: Date.now() - hour + 0.7 }) })),
    );
    // Finer starts would be rounded on their way into the table, some of them into the next hour.
    const finer =
      'SELECT count(*)::int AS n FROM requests WHERE extract(microseconds FROM started_at)::bigint % 1000 <> 0';
    expect(await query(database.url, finer)).toEqual([{ n: 0 }]);
    expect(await expectExactRollups(database.url)).toBeGreaterThan(10);
    while ((await foldRollups(pool)) > 0);
    await expectExactRollups(database.url);
  });
});
