import { describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import {
  bucketOf,
  ROLLUP_GRAIN_NAMES,
  ROLLUP_GRAINS,
  type RollupGrain,
  type RollupGrainName,
} from '../../contract/rollups.ts';
import { exampleClient, exampleServer } from './exampleHalves.ts';
import { joinHalf } from './join.ts';
import { bucketRow, combinationOf, NO_BUCKET, newRowBuckets } from './rollupSamples.ts';
import type { RequestRow } from './row.ts';

/** A joined, finished request with everything that is rolled up. Server TTFT 20 ms, client TTFT 100 ms. */
function wholeRow(fields: Partial<RequestRow> = {}): RequestRow {
  const server = joinHalf(null, exampleServer({ model: 'llama', route: '/a', variant: 'int4', tier: 'vip' }));
  const client = exampleClient({ ttft_ms: 100, region: 'eu', device: 'mobile', render: { first_ms: 104, p50_ms: 3 } });
  return { ...joinHalf(server, client), tpot_ms: 25, gap_max_ms: 80, first_screen_ms: 900, ...fields };
}

/** The buckets of one grain by series, those that are there. */
function bucketsOf(row: RequestRow, grain: RollupGrainName): Record<string, number> {
  const buckets = newRowBuckets();
  bucketRow(row, buckets);
  const { series }: RollupGrain = ROLLUP_GRAINS[grain];
  expect(buckets[grain].length).toBe(series.length);
  return Object.fromEntries(
    [...buckets[grain]].flatMap((bucket, at) =>
      bucket === NO_BUCKET ? [] : [[series[at]!.stage ?? series[at]!.metric, bucket]],
    ),
  );
}

const combinationsOf = (row: RequestRow) => ROLLUP_GRAIN_NAMES.map((grain) => [grain, ...combinationOf(grain, row)]);
const all = (row: RequestRow) => ROLLUP_GRAIN_NAMES.map((grain) => bucketsOf(row, grain));
const seriesOf = (row: RequestRow, grain: RollupGrainName) => Object.keys(bucketsOf(row, grain)).sort();

describe('a joined and finished request', () => {
  test('counts in every grain, under its dimensions', () => {
    expect(combinationsOf(wholeRow())).toEqual([
      ['client', 'llama', 'eu', 'mobile'],
      ['route', 'llama', '/a', 'int4', 'vip'],
      ['stage', 'llama'],
      ['outcome', 'int4', 'complete', 'up_to_100ms'],
    ]);
  });

  test('with each value in its bucket, whatever unit its column has', () => {
    const client = { ttft_client: 100, tpot: 25, gap_max: 80, first_screen: 900, render_lag: 3, hidden_tax: 80 };
    const route = { ttft_server: 20, ttft_client: 100, tpot: 25, first_screen: 900 };
    const stage = {
      receive: 1,
      preprocess: 2,
      kv_load: 3,
      first_token: 5,
      serialize: 7,
      send: 3,
      network: 79,
      render: 4,
    };
    const bucketed = (values: Record<string, number>) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, bucketOf(value)]));
    expect(bucketsOf(wholeRow(), 'client')).toEqual(bucketed(client));
    expect(bucketsOf(wholeRow(), 'route')).toEqual(bucketed(route));
    expect(bucketsOf(wholeRow(), 'stage')).toEqual({ ...bucketed(stage), unattributed: 0 });
    expect(bucketsOf(wholeRow(), 'outcome')).toEqual({ requests: 0 });
  });
});

describe('what does not count', () => {
  test('anything of a machine that slept', () => {
    expect(all(wholeRow({ flags: FLAG_BITS.suspended }))).toEqual([{}, {}, {}, {}]);
  });

  test('TPOT and gaps of what a proxy held back', () => {
    const row = wholeRow({ flags: FLAG_BITS.coalesced });
    expect(seriesOf(row, 'client')).toEqual(['first_screen', 'hidden_tax', 'render_lag', 'ttft_client']);
    expect(seriesOf(row, 'route')).toEqual(['first_screen', 'ttft_client', 'ttft_server']);
  });

  test('of a stream that still runs, all but its first token', () => {
    const row = wholeRow({ status: 'streaming' });
    expect(seriesOf(row, 'client')).toEqual(['hidden_tax', 'ttft_client']);
    expect(seriesOf(row, 'stage')).not.toContain('render');
    expect(bucketsOf(row, 'outcome')).toEqual({ requests: 0 });
  });

  test('a negative hidden tax, and the network where the accounts contradict each other', () => {
    const row = wholeRow({ ttft_ms: 19.9, flags: FLAG_BITS.clock_anomaly });
    expect(seriesOf(row, 'client')).not.toContain('hidden_tax');
    expect(seriesOf(row, 'stage')).not.toContain('network');
  });

  test('the unattributed wait of a client without a server', () => {
    const row = joinHalf(null, exampleClient({ ttft_ms: 100 }));
    expect(row.unattributed_ns).toBe(100_000_000);
    expect(all(row).map((buckets) => Object.keys(buckets))).toEqual([
      ['ttft_client'],
      ['ttft_client'],
      [],
      ['requests'],
    ]);
  });
});

test('what nobody said is unknown; a server alone has no outcome yet', () => {
  expect(combinationsOf(joinHalf(null, exampleServer()))).toEqual([
    ['client', 'unknown', 'unknown', 'unknown'],
    ['route', 'unknown', 'unknown', 'unknown', 'unknown'],
    ['stage', 'unknown'],
    ['outcome', 'unknown', 'unknown', 'unknown'],
  ]);
});

test('a value is in the same bucket before and after its column has rounded it', () => {
  for (let gap = 0.0011; gap < 1e7; gap *= 1.037) {
    const [before, after] = [wholeRow({ gap_max_ms: gap }), wholeRow({ gap_max_ms: Math.fround(gap) })];
    expect(bucketsOf(before, 'client')).toEqual(bucketsOf(after, 'client'));
  }
});
