import { afterEach, describe, expect, test } from 'vitest';
import { createDatabase } from './database.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, SERVER_TTFT_NS, serverRecord, traceId } from './serviceEvents.ts';
import { scrape } from './serviceMetrics.ts';
import { until } from './serviceWait.ts';

let running: RunningService[] = [];
afterEach(async () => {
  for (const service of running.reverse()) await service.stop();
  running = [];
});

/** So many instances on one database. */
async function open(instances: number): Promise<RunningService[]> {
  const first = await openService();
  running.push(first);
  while (running.length < instances) running.push(await openService({ databaseUrl: first.databaseUrl }));
  return running;
}

type HalfName = 'server' | 'client' | 'echo';
const ORDERS: HalfName[][] = [
  ['server', 'client', 'echo'],
  ['server', 'echo', 'client'],
  ['client', 'server', 'echo'],
  ['client', 'echo', 'server'],
  ['echo', 'server', 'client'],
  ['echo', 'client', 'server'],
];

const DESCRIBED = {
  tier: 'vip',
  variant: 'int4',
  backend: 'gpu-1',
  prompt_tokens: 812,
  cached_tokens: 512,
  output_tokens: 230,
  quantization: 'int4',
  decoding: 'greedy',
  temperature: 0.7,
  top_k: 50,
  batch_size: 8,
  status: 200,
} as const;

/** Posts one kind of half of many requests; the echo comes with an interim beacon whose stamps are fewer. */
async function post(service: RunningService, half: HalfName, keys: readonly string[]): Promise<void> {
  const answer =
    half === 'server'
      ? await service.postTimings(...keys.map((trace_id) => serverRecord({ trace_id, ...DESCRIBED })))
      : await service.postBeacons(
          ...keys.map((trace_id) =>
            half === 'client'
              ? beacon({ trace_id, seq: 2, model: 'llama', tier: 'free' })
              : {
                  v: 1,
                  trace_id,
                  seq: 1,
                  status: 'streaming',
                  ttft_ms: 412.3,
                  device: 'mobile',
                  timing_trace: '1,2,3,4,0,0,0',
                  model: 'x',
                },
          ),
        );
  expect(answer.json).toEqual({ accepted: keys.length, rejected: [] });
}

async function expectJoined(service: RunningService, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const { json } = await service.read(key);
    expect(json).toMatchObject({
      joined: true,
      status: 'complete',
      flags: [],
      server: {
        source: 'direct',
        ttft_ns: SERVER_TTFT_NS,
        ttft_basis: 't1-t6',
        model: 'llama',
        tier: 'vip',
        backend: 'gpu-1',
      },
      client: {
        seq: 2,
        ttft_ms: 412.3,
        tpot_ms: 12.5,
        output_tokens: 9,
        device: 'mobile',
        arrivals_ms: [412.3, 450.1, 512.3],
        chunk_tokens: [1, 4, 4],
      },
    });
    expect(json.stages_ns).toMatchObject({
      receive: 2,
      preprocess: 3,
      kv_load: 5,
      first_token: 1,
      serialize: 7,
      send: 3,
      network: 412_299_979,
      unattributed: 0,
    });
  }
  expect(
    await query(
      service.databaseUrl,
      'SELECT count(*)::int AS rows, count(DISTINCT trace_id)::int AS keys, bool_and(settled) AS settled FROM requests WHERE trace_id = ANY ($1::uuid[])',
      [keys],
    ),
  ).toEqual([{ rows: keys.length, keys: keys.length, settled: true }]);
}

/** Every sample of `requests` joined requests, once, over all instances. */
async function expectCounted(services: readonly RunningService[], requests: number): Promise<void> {
  const metrics = await scrape(...services);
  for (const name of [
    'ttft_seconds',
    'ttft_client_seconds',
    'tpot_seconds',
    'hidden_tax_seconds',
    'tpot_stddev_seconds',
    'stream_gap_max_seconds',
  ])
    expect([name, metrics.sum(`${name}_count`)]).toEqual([name, requests]);
  for (const stage of ['receive', 'preprocess', 'kv_load', 'first_token', 'serialize', 'send', 'network'])
    expect([stage, metrics.sum('stage_duration_seconds_count', { stage })]).toEqual([stage, requests]);
  expect(metrics.sum('ttft_seconds_sum')).toBeCloseTo((requests * SERVER_TTFT_NS) / 1e9, 12);
  expect(metrics.sum('ttft_client_seconds_sum')).toBeCloseTo(requests * 0.4123, 6);
  expect(metrics.sum('streams_total', { status: 'complete' })).toBe(requests);
  expect(metrics.sum('streams_total')).toBe(requests);
  expect(metrics.sum('firsttoken_joined_total')).toBe(requests);
  expect(metrics.sum('firsttoken_settled_total', { client: 'yes', server: 'direct' })).toBe(requests);
  expect(metrics.sum('firsttoken_settled_total')).toBe(requests);
}

describe('halves in any order, each twice, on either of two instances', () => {
  test.each(ORDERS.map((order) => [order.join(', '), order] as const))('%s: one after the other', async (_, order) => {
    const services = await open(2);
    const keys = Array.from({ length: 5 }, traceId);
    for (const [position, half] of [...order, ...order].entries()) await post(services[position % 2]!, half, keys);
    await expectJoined(services[1]!, keys);
    await expectCounted(services, keys.length);
  });

  test('all of all requests at once, in batches and alone', async () => {
    const services = await open(2);
    const keys = Array.from({ length: 120 }, traceId);
    const posts: Promise<void>[] = [];
    for (const [number, order] of ORDERS.entries()) {
      const own = keys.slice(number * 20, number * 20 + 20);
      for (const half of [...order, ...order]) {
        posts.push(post(services[posts.length % 2]!, half, own.slice(0, 10)));
        for (const key of own.slice(10)) posts.push(post(services[posts.length % 2]!, half, [key]));
      }
    }
    await Promise.all(posts);
    await expectJoined(services[0]!, keys);
    await expectCounted(services, keys.length);
  });

  test('both halves twice within one post each', async () => {
    const services = await open(1);
    const keys = Array.from({ length: 20 }, traceId);
    await Promise.all([
      post(services[0]!, 'server', [...keys, ...keys]),
      post(services[0]!, 'client', [...keys, ...keys.reverse()]),
    ]);
    await expectJoined(services[0]!, keys);
    await expectCounted(services, keys.length);
  });
});

describe('which beacon wins', () => {
  test('the highest seq, also within one post, and a neighbour is not touched', async () => {
    const [service] = await open(1);
    const [a, b] = [traceId(), traceId()];
    const at = (trace_id: string, seq: number, ttft_ms: number) => ({
      v: 1,
      trace_id,
      seq,
      status: 'complete',
      ttft_ms,
    });
    await service!.postBeacons(at(a, 1, 10), at(b, 1, 11), at(a, 2, 12));
    expect((await service!.read(a)).json.client).toMatchObject({ seq: 2, ttft_ms: 12 });
    await service!.postBeacons(at(a, 0, 999));
    expect((await service!.read(a)).json.client).toMatchObject({ seq: 2, ttft_ms: 12 });
    expect((await service!.read(b)).json.client).toMatchObject({ seq: 1, ttft_ms: 11 });
  });

  test('a page that reports again and again: two streams, two samples', async () => {
    const [service] = await open(1);
    const [first, second] = [traceId(), traceId()];
    const hidden = { v: 1, trace_id: first, seq: 1, status: 'streaming', ttft_ms: 300, output_tokens: 10 };
    const later = { ...hidden, seq: 2, output_tokens: 14 };
    for (const each of [hidden, hidden, later, { ...hidden, trace_id: second, output_tokens: 5 }, hidden])
      expect((await service!.postBeacons(each)).json.accepted).toBe(1);
    expect((await service!.read(first)).json.client).toMatchObject({ seq: 2, output_tokens: 14 });
    expect((await service!.read(second)).json.client).toMatchObject({ seq: 1, output_tokens: 5 });
    expect((await scrape(service!)).sum('ttft_client_seconds_count')).toBe(2);
  });

  test('what a later beacon does not say, and what it says is null, stays', async () => {
    const [service] = await open(1);
    const key = traceId();
    await service!.postBeacons(beacon({ trace_id: key, region: 'eu' }));
    await service!.postBeacons({ v: 1, trace_id: key, seq: 5, status: 'complete', ttft_ms: null, arrivals_ms: null });
    await service!.postTimings({ trace_id: key, server_timing: 'db;dur=3' });
    expect((await service!.read(key)).json).toMatchObject({
      client: { seq: 5, ttft_ms: 412.3, region: 'eu', arrivals_ms: [412.3, 450.1, 512.3] },
      server: { ttft_ns: null },
    });
  });
});

test('two instances write two keys in opposite order 200 times: nothing lost, no error, no retry', async () => {
  const services = await open(2);
  const rounds = Array.from({ length: 200 }, () => [traceId(), traceId()] as const);
  const began = performance.now();
  for (const [a, b] of rounds) {
    const halves = (keys: readonly string[]) => keys.map((trace_id) => serverRecord({ trace_id }));
    const ends = (keys: readonly string[]) => keys.map((trace_id) => beacon({ trace_id }));
    const answers = await Promise.all([
      services[0]!.postTimings(...halves([a, b])),
      services[1]!.postTimings(...halves([b, a])),
      services[0]!.postBeacons(...ends([b, a])),
      services[1]!.postBeacons(...ends([a, b])),
    ]);
    expect(answers.map(({ json }) => json)).toEqual(answers.map(() => ({ accepted: 2, rejected: [] })));
  }
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(
    await query(
      services[0]!.databaseUrl,
      `SELECT count(*)::int AS rows, count(*) FILTER (WHERE settled AND network_ns = 412299979)::int AS whole FROM requests`,
    ),
  ).toEqual([{ rows: 400, whole: 400 }]);
  await expectCounted(services, 400);
  expect((await scrape(...services)).sum('firsttoken_flush_retries_total')).toBe(0);
});

test('a replay writes nothing, and an update stays in its page', async () => {
  const database = await createDatabase();
  const keys = Array.from({ length: 1_000 }, traceId);
  /** What one instance's connections did; they report at the latest when they close. */
  const after = async (...halves: HalfName[]) => {
    const service = await openService({ databaseUrl: database.url });
    for (const half of halves) await post(service, half, keys);
    await service.stop();
    await until('connections to close', async () => {
      const [open] = await query(
        database.url,
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()`,
      );
      return open?.['n'] === 1;
    });
    const [statistics] = await query<Record<'inserts' | 'updates' | 'hot' | 'dead', number>>(
      database.url,
      `SELECT sum(n_tup_ins)::int AS inserts, sum(n_tup_upd)::int AS updates, sum(n_tup_hot_upd)::int AS hot,
         sum(n_dead_tup)::int AS dead FROM pg_stat_user_tables WHERE relname ~ '^requests_'`,
    );
    return statistics!;
  };
  try {
    const first = await after('server', 'client');
    expect(first).toMatchObject({ inserts: 1_000, updates: 1_000 });
    expect(first.hot).toBeGreaterThanOrEqual(950);
    const replayed = await after('client', 'server', 'echo', 'client');
    expect(replayed).toMatchObject({ inserts: 1_000, updates: 1_000 });
    // A vacuum may have come by, which only takes away.
    expect(replayed.dead).toBeLessThanOrEqual(first.dead);
  } finally {
    await database.drop();
  }
});
