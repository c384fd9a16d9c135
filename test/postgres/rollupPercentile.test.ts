import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketValueMs, LAST_BUCKET, lowerEdgeOf } from '../../contract/rollups.ts';
import { foldRollups } from '../../ingest/store/rollupFold.ts';
import { expectExactRollups } from './rollupRecount.ts';
import { openService, query, type RunningService } from './service.ts';
import { traceId } from './serviceEvents.ts';

const REGIONS = ['eu', 'us', 'ap'];
const STREAMS = 6_000;
const FRACTIONS = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1];

let service: RunningService;
beforeAll(async () => {
  service = await openService();
  const random = randomNumbers(20261201);
  const lognormal = (median: number, sigma: number) =>
    median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
  for (let sent = 0; sent < STREAMS; sent += 1_000)
    await service.postBeacons(
      ...Array.from({ length: 1_000 }, (_, index) => {
        const ttft_ms = lognormal(300, 0.8);
        const end = ttft_ms + 99 * lognormal(25, 0.5);
        return {
          ...{ v: 1, trace_id: traceId(), status: 'complete', ttft_ms, region: REGIONS[index % 3], output_tokens: 100 },
          ...{
            output_tokens_source: 'usage',
            arrivals_ms: [ttft_ms, end],
            chunk_tokens: [1, 99],
            since_start_ms: random() * 7_000_000,
          },
        };
      }),
    );
});
afterAll(() => service.stop());

/** The percentiles of both ways, side by side. */
async function compare(metric: string, column: string, group: string): Promise<void> {
  const rows = await query<{ group: string; rolled: number[]; exact: number[]; n: string; requests: string }>(
    service.databaseUrl,
    `SELECT * FROM (
       SELECT ${group} AS "group", sum(n) AS n,
         rollup_percentiles($1::float8[], array_agg(bucket), array_agg(n)) AS rolled
       FROM rollups WHERE grain = 'client' AND metric = '${metric}' GROUP BY 1
     ) AS r JOIN (
       SELECT ${group} AS "group", count(*) AS requests, percentile_disc($1::float8[]) WITHIN GROUP (ORDER BY ${column}) AS exact
       FROM (SELECT *, date_trunc('hour', started_at) AS hour FROM requests) AS s GROUP BY 1
     ) AS e USING ("group")`,
    [FRACTIONS],
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { rolled, exact, n, requests } of rows) {
    expect(n).toBe(requests);
    for (const [at, value] of exact.entries())
      expect(Math.abs(rolled[at]! - value) / value, `${metric} p${FRACTIONS[at]! * 100}`).toBeLessThanOrEqual(0.01);
  }
}

describe('percentiles from rollups are within 1 % of the exact ones', () => {
  test.each(['not folded yet', 'folded'])('%s', async (state) => {
    if (state === 'folded') {
      const pool = new pg.Pool({ connectionString: service.databaseUrl });
      while ((await foldRollups(pool)) > 0);
      await pool.end();
    }
    await compare('ttft_client', 'ttft_ms', 'region');
    await compare('ttft_client', 'ttft_ms', 'hour');
    await compare('tpot', 'tpot_ms', 'region');
    await compare('tpot', 'tpot_ms', 'hour');
    await expectExactRollups(service.databaseUrl);
  });
});

test('a percentile counts as percentile_disc does, whatever the order, splitting and signs of the lines', async () => {
  const percentile = async (fraction: number, buckets: number[] | null, counts: number[] | null) =>
    (
      await query<{ bucket: number | null }>(
        service.databaseUrl,
        `SELECT (SELECT bucket FROM rollup_buckets WHERE abs(value_ms - ms) <= 1e-9 * ms) AS bucket
         FROM (SELECT rollup_percentile($1, $2, $3) AS ms) AS p`,
        [fraction, buckets, counts],
      )
    )[0]!.bucket;
  expect(await percentile(0.5, [], [])).toBeNull();
  expect(await percentile(0.5, null, null)).toBeNull();
  expect(await percentile(0.5, [0, 0, 1], [2, 3, 4])).toBe(0);
  expect(await percentile(0.5, [7, 7], [3, -3])).toBeNull();
  expect(await percentile(0.5, [700], [1])).toBe(700);
  for (const fraction of FRACTIONS)
    expect([fraction, await percentile(fraction, [30, 10, 20, 10, 30, 40], [1, 1, 2, 2, 1, 0])]).toEqual([
      fraction,
      [10, 10, 10, 20, 20, 30, 30, 30][Math.max(0, Math.ceil(fraction * 7))],
    ]);
});

test('the table of buckets is the contract’s, to the last bit', async () => {
  const rows = await query<Record<'bucket' | 'from_ms' | 'to_ms' | 'value_ms', number>>(
    service.databaseUrl,
    'SELECT * FROM rollup_buckets ORDER BY bucket',
  );
  expect(rows).toEqual(
    Array.from({ length: LAST_BUCKET + 1 }, (_, bucket) => ({
      bucket,
      from_ms: lowerEdgeOf(bucket),
      to_ms: bucket === LAST_BUCKET ? Number.POSITIVE_INFINITY : lowerEdgeOf(bucket + 1),
      value_ms: bucketValueMs(bucket),
    })),
  );
});

/** Mulberry32: the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
