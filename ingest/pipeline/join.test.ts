import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STREAM_STATUSES } from '../../contract/beacon.ts';
import { FLAG_BITS } from '../../contract/flags.ts';
import { exampleClient, exampleEcho, exampleServer } from './exampleHalves.ts';
import type { Half } from './half.ts';
import { isComplete, joinHalf } from './join.ts';
import { isJoined, newRow, type RequestRow } from './row.ts';

function join(...halves: readonly Half[]): RequestRow {
  let row: RequestRow | null = null;
  for (const half of halves) row = joinHalf(row, half);
  if (row === null) throw new Error('no halves');
  return row;
}

function orders<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

/** Set by the first half for good, by their rule. */
const byFirst = { started_at: 0, trace_ref: null };

const direct = exampleServer({
  model: 'llama',
  route: '/api/chat',
  tier: 'vip',
  backend: 'gpu-03',
  prompt_tokens: 812,
  started_at: '2026-07-31T09:52:11.000Z',
  status: 200,
  server_timing: 'queue;dur=2, db;dur=4',
});
const echo = exampleEcho({ server_timing: 'edge;dur=1' });
const client = exampleClient({
  seq: 2,
  since_start_ms: 600,
  arrivals_ms: [412.3, 450, 455],
  chunk_tokens: [1, 4, 4],
  output_tokens: 9,
  output_tokens_source: 'usage',
  end_ms: 500,
  hidden: true,
  render: { first_ms: 430, p50_ms: 4, max_ms: 38 },
  model: 'said by the page',
  variant: 'int4',
  region: 'eu-west',
  device: 'mobile',
});

describe('every order, each half delivered twice, gives one row', () => {
  const expected = {
    server_source: 'direct',
    server_ttft_ns: 20_000_000,
    ttft_basis: 't1-t6',
    queue_ns: 2_000_000,
    first_token_ns: 3_000_000,
    sub_stages_ns: { db: 4_000_000 },
    network_ns: 412_300_000 - 20_000_000 - 1_000_000,
    unattributed_ns: 0,
    render_ns: 17_700_000,
    status: 'complete',
    seq: 2,
    model: 'llama',
    variant: 'int4',
    tier: 'vip',
    prompt_tokens: 812,
    region: 'eu-west',
    flags: FLAG_BITS.hidden,
  };

  test.each(orders(['direct', 'client', 'echo'] as const).map((order) => [order.join(', '), order] as const))(
    '%s',
    (_name, order) => {
      const halves = { direct, client, echo };
      const given = order.map((name) => halves[name]);
      const once = join(...given);
      expect(once).toMatchObject(expected);
      expect(join(...given.flatMap((half) => [half, half]))).toEqual(once);
      expect(join(...given, ...given)).toEqual(once);
      expect({ ...once, ...byFirst }).toEqual({ ...join(direct, client, echo), ...byFirst });
    },
  );

  test('an echo within its beacon is the same as one that comes alone', () => {
    const withEcho = { ...client, echo };
    for (const halves of orders([direct, withEcho]))
      expect({ ...join(...halves), ...byFirst }).toEqual({ ...join(direct, client, echo), ...byFirst });
    expect(join(withEcho)).toMatchObject({ server_source: 'echo', server_ttft_ns: 20_000_000, backend: null });
  });

  test('sub-stages that only the echo has are kept beside a direct half, whichever came first', () => {
    const plain = exampleServer();
    for (const halves of orders([plain, echo]))
      expect(join(...halves)).toMatchObject({ server_source: 'direct', sub_stages_ns: { edge: 1_000_000 } });
  });
});

describe('beacons', () => {
  const streaming = exampleClient({
    seq: 1,
    status: 'streaming',
    ttft_ms: 340,
    model: 'a',
    hidden: true,
    coalesced: true,
  });

  test('a lower seq changes nothing', () => {
    const before = join(exampleClient({ seq: 1, ttft_ms: 340 }));
    const after = join(
      exampleClient({ seq: 1, ttft_ms: 340 }),
      exampleClient({ seq: 0, ttft_ms: 999, status: 'error', model: 'x' }),
    );
    expect(after).toEqual(before);
  });

  test('whatever it says, a lower seq changes nothing', () => {
    const fields = fc.record(
      {
        status: fc.constantFrom(...STREAM_STATUSES),
        ttft_ms: fc.nat(1_000),
        model: fc.constantFrom('a', 'b'),
        suspended: fc.boolean(),
        output_tokens: fc.nat(100),
        timing_trace: fc.constantFrom('1,2,3,4,5,6,7', '0,0,0,4,5,6,7'),
      },
      { requiredKeys: ['status'] },
    );
    fc.assert(
      fc.property(fields, fields, fc.nat(5), fc.nat(5), (first, second, seq, less) => {
        const before = join(exampleClient({ ...first, seq: seq + less + 1 }));
        expect(joinHalf({ ...before }, exampleClient({ ...second, seq: less }))).toEqual(before);
      }),
    );
  });

  test('a higher seq overwrites field by field what it has', () => {
    const row = join(streaming, exampleClient({ seq: 2, output_tokens: 9, model: 'b', coalesced: false }));
    expect(row).toMatchObject({ seq: 2, status: 'complete', ttft_ms: 340, output_tokens: 9, model: 'b' });
    expect(row.flags).toBe(FLAG_BITS.hidden);
  });

  test('at equal seq a final one beats streaming, else the first stays', () => {
    const final = exampleClient({ seq: 1, status: 'aborted', ttft_ms: 341 });
    expect(join(streaming, final)).toMatchObject({ status: 'aborted', ttft_ms: 341 });
    expect(join(final, streaming)).toMatchObject({ status: 'aborted', ttft_ms: 341, model: null });
    expect(join(final, exampleClient({ seq: 1, status: 'error', ttft_ms: 342 }))).toMatchObject({ status: 'aborted' });
    expect(join(streaming, exampleClient({ seq: 1, status: 'streaming', ttft_ms: 7 }))).toMatchObject({ ttft_ms: 340 });
  });

  test('an absent seq is 0', () => {
    expect(join(exampleClient({ ttft_ms: 1 }), exampleClient({ ttft_ms: 2, seq: 0 }))).toMatchObject({
      seq: 0,
      ttft_ms: 1,
    });
  });

  test('a final one never returns to streaming, nor to another TPOT, but its fields may still come', () => {
    const final = exampleClient({ seq: 1, arrivals_ms: [100, 200], chunk_tokens: [1, 4], output_tokens: 5 });
    const stray = exampleClient({
      seq: 2,
      status: 'streaming',
      arrivals_ms: [100, 300],
      chunk_tokens: [1, 1],
      region: 'eu',
    });
    expect(join(final, stray)).toMatchObject({ status: 'complete', tpot_ms: 25, seq: 2, region: 'eu' });
  });

  test('a stream that still runs has no TPOT', () => {
    const running = exampleClient({ status: 'streaming', arrivals_ms: [100, 200, 300] });
    expect(join(running)).toMatchObject({ tpot_ms: null, gap_max_ms: 100 });
  });

  test('ten of a page in any order: two streams, the highest seq each', () => {
    const page = [
      exampleClient({ seq: 1, status: 'streaming', output_tokens: 10 }),
      exampleClient({ seq: 1, status: 'streaming', output_tokens: 10 }),
      exampleClient({ seq: 2, status: 'streaming', output_tokens: 14 }),
    ];
    for (const order of orders(page)) expect(join(...order)).toMatchObject({ seq: 2, output_tokens: 14 });
  });

  test('the paint of the first token is measured from its arrival, never below 0', () => {
    expect(join(exampleClient({ ttft_ms: 412, render: { first_ms: 430 } })).render_ns).toBe(18e6);
    expect(join(exampleClient({ ttft_ms: 412, render: { first_ms: 400 } })).render_ns).toBe(0);
    expect(join(exampleClient({ render: { first_ms: 400 } })).render_ns).toBeNull();
  });
});

describe('server halves', () => {
  const SIX = '0,2000000,4000000,7000000,12000000,19000000,22000000';

  test('of two direct ones the one with more stamps wins, whichever came first', () => {
    const more = exampleServer({ model: 'a', backend: 'gpu-1' });
    const less = exampleServer({ timing_trace: SIX, model: 'b', tier: 'free', sub_stages: { db: 5 } });
    for (const halves of orders([more, less]))
      expect(join(...halves)).toMatchObject({
        stamp_count: 7,
        receive_ns: 1e6,
        model: 'a',
        tier: 'free',
        backend: 'gpu-1',
        sub_stages_ns: { db: 5 },
      });
  });

  test('of two with as many, the first', () => {
    const first = exampleServer({ model: 'a' });
    const second = exampleServer({ timing_trace: '1,2,3,4,5,6,7', model: 'b', route: '/r' });
    expect(join(first, second)).toMatchObject({ server_ttft_ns: 20e6, model: 'a', route: '/r' });
    expect(join(second, first)).toMatchObject({ server_ttft_ns: 5, model: 'b', route: '/r' });
  });

  test('an echo never replaces a direct half, and a direct one replaces an echo whole', () => {
    const poor = exampleServer({ timing_trace: '0,0,0,0,12000000,19000000,22000000' });
    for (const halves of orders([poor, exampleEcho()]))
      expect(join(...halves)).toMatchObject({
        server_source: 'direct',
        stamp_count: 3,
        server_ttft_ns: null,
        receive_ns: null,
      });
  });

  test('what the server says of a request stands before what the page says, field by field', () => {
    const page = exampleClient({ model: 'p', route: '/p', variant: 'p', tier: 'p', prompt_tokens: 1 });
    const server = exampleServer({ model: 's', prompt_tokens: 2 });
    for (const halves of orders([page, server]))
      expect(join(...halves)).toMatchObject({ model: 's', prompt_tokens: 2, route: '/p', variant: 'p', tier: 'p' });
    expect(join(server, page, exampleClient({ seq: 9, model: 'again', route: '/again' }))).toMatchObject({
      model: 's',
      route: '/again',
    });
  });

  test('an overflow goes with the times that had it', () => {
    const tight = exampleEcho({ timing_trace: SIX, server_timing: 'queue;dur=900' });
    expect(join(tight).flags).toBe(FLAG_BITS.stage_overflow);
    expect(join(tight, exampleServer()).flags).toBe(0);
    expect(join(exampleServer(), tight).flags).toBe(0);
  });
});

describe('identity', () => {
  test('start, its remark and the spelling come from the first half that has them', () => {
    const early = exampleServer({ started_at: '2026-07-30T00:00:00Z' });
    const page = exampleClient({ trace_id: '4BF92F3577B34DA6A3CE929D0E0E4736', since_start_ms: 600 });
    const row = join(page, early);
    expect(row).toMatchObject({ started_at: page.startedAtMs, trace_ref: page.ref, flags: 0 });
    expect(join(early, page)).toMatchObject({ started_at: early.receivedAtMs, trace_ref: page.ref });
    expect(join(early, page).flags & FLAG_BITS.started_at_replaced).not.toBe(0);
  });

  test('a half without a start begins when it came', () => {
    expect(join(exampleClient()).started_at).toBe(exampleClient().receivedAtMs);
  });
});

test('no half erases what is known', () => {
  const half = fc.oneof(
    fc.record({ seq: fc.nat(3), status: fc.constantFrom(...STREAM_STATUSES) }).map((fields) => exampleClient(fields)),
    fc.constantFrom(exampleServer({ timing_trace: null, server_timing: 'db;dur=1' })),
  );
  const known = join(client);
  fc.assert(
    fc.property(fc.array(half, { maxLength: 6 }), (halves) => {
      const row = halves.reduce(joinHalf, { ...known } as RequestRow);
      for (const [name, value] of Object.entries(known))
        if (value !== null) expect(row[name as keyof RequestRow], name).not.toBeNull();
      expect(row).toMatchObject({
        ttft_ms: 412.3,
        region: 'eu-west',
        tpot_ms: known.tpot_ms,
        arrivals_ms: known.arrivals_ms,
      });
    }),
  );
});

test('what is complete settles at once', () => {
  expect(isComplete(join(direct, client), false)).toBe(true);
  expect(isComplete(join(direct, client), true)).toBe(false);
  expect(isComplete({ ...join(direct, client), gateway_status: 200 }, true)).toBe(true);
  expect(isComplete(join(echo, client), false)).toBe(false);
  expect(isComplete(join(direct, exampleClient({ status: 'streaming' })), false)).toBe(false);
  expect(isComplete(join(direct), false)).toBe(false);
  expect(isComplete(newRow({ traceId: 'a', startedAtMs: 0 }), false)).toBe(false);
  expect(isJoined(join(echo, client))).toBe(true);
  expect(isJoined(join(direct))).toBe(false);
});
