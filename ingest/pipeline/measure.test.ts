import { describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import { parseStrictly } from '../metrics/strictParser.ts';
import { createMetrics } from '../registry.ts';
import { EXAMPLE_KEY, exampleClient, exampleEcho, exampleServer } from './exampleHalves.ts';
import type { Half } from './half.ts';
import { joinHalf } from './join.ts';
import { measure } from './measure.ts';
import type { RequestRow } from './row.ts';

const ACCEPTED = new Set(['llama', '/api/chat', 'vip', 'int4', 'gpu-03', 'eu-west']);

/** Follows one request through its commits, measuring each as the store would tell it. */
class Request {
  row: RequestRow | null = null;
  readonly metrics = createMetrics();

  commit(...halves: readonly Half[]): this {
    const before = this.row;
    let after = before === null ? null : { ...before };
    for (const half of halves) after = joinHalf(after, half);
    return this.#committed(before, after!);
  }

  change(fields: Partial<RequestRow>): this {
    return this.#committed(this.row, { ...this.row!, ...fields });
  }

  settle(): this {
    return this.change({ settled: true });
  }

  #committed(before: RequestRow | null, after: RequestRow): this {
    measure(this.metrics, { has: (_label, value) => ACCEPTED.has(value) }, before, after);
    this.row = after;
    return this;
  }

  /** What was counted: `name{labels}` to the count, and of histograms also the sum in milliseconds. */
  async counted(): Promise<Record<string, string>> {
    const counted: Record<string, string> = {};
    for (const family of parseStrictly(await this.metrics.render('text'), 'text').values()) {
      if (
        !/^(ttft|tpot|stage|hidden|stream|first_screen|render|firsttoken_(joined|settled|clock|label))/.test(
          family.name,
        )
      )
        continue;
      for (const { name, labels, value } of family.samples) {
        if (name.endsWith('_bucket') || value === 0) continue;
        const head = `${name.replace(/_(count|sum|total)$/, '')}{${Object.values(labels).join(',')}}`;
        if (name.endsWith('_sum')) counted[head] = `${Number((value * 1_000).toPrecision(10))} ms`;
        else counted[head] = counted[head] === undefined ? `${value}` : `${value}: ${counted[head]}`;
      }
    }
    return counted;
  }
}

const server = exampleServer({ model: 'llama', route: '/api/chat', tier: 'vip', variant: 'int4', backend: 'gpu-03' });
const client = exampleClient({
  seq: 1,
  arrivals_ms: [100, 200, 250],
  chunk_tokens: [1, 4, 4],
  output_tokens: 9,
  region: 'eu-west',
  device: 'mobile',
  render: { first_ms: 110, p50_ms: 4 },
});

const SERVER_COUNTS = {
  'ttft_seconds{llama,/api/chat,vip,int4,gpu-03}': '1: 20 ms',
  'stage_duration_seconds{receive,llama}': '1: 1 ms',
  'stage_duration_seconds{preprocess,llama}': '1: 2 ms',
  'stage_duration_seconds{kv_load,llama}': '1: 3 ms',
  'stage_duration_seconds{first_token,llama}': '1: 5 ms',
  'stage_duration_seconds{serialize,llama}': '1: 7 ms',
  'stage_duration_seconds{send,llama}': '1: 3 ms',
};
const CLIENT_COUNTS = {
  'ttft_client_seconds{unknown,unknown,eu-west,mobile}': '1: 100 ms',
  'streams{complete,unknown}': '1',
  'tpot_seconds{unknown,unknown,mobile,unknown,unknown}': '1: 18.75 ms',
  'tpot_stddev_seconds{unknown,mobile}': '1: 25 ms',
  'stream_gap_max_seconds{unknown,mobile}': '1: 100 ms',
  'render_lag_seconds{unknown,mobile}': '1: 4 ms',
  'stage_duration_seconds{render,unknown}': '1: 10 ms',
};

describe('on arrival', () => {
  test('a direct server half: its TTFT and stages', async () => {
    expect(await new Request().commit(server).counted()).toEqual(SERVER_COUNTS);
  });

  test('a final beacon: TTFT, TPOT, gaps, render lag and outcome', async () => {
    expect(await new Request().commit(client).counted()).toEqual(CLIENT_COUNTS);
  });

  test('each half once, in whatever order and however often they come', async () => {
    const first = await new Request()
      .commit(server)
      .commit(server)
      .commit(client)
      .commit(client)
      .commit(server)
      .counted();
    expect(first).toMatchObject(SERVER_COUNTS);
    expect(first).toMatchObject({ 'streams{complete,llama}': '1', 'firsttoken_joined{direct}': '1' });
    expect(Object.values(first).every((value) => value.startsWith('1'))).toBe(true);

    const second = await new Request()
      .commit(client)
      .commit(client)
      .commit(server)
      .commit(client)
      .commit(server)
      .counted();
    expect(second).toEqual({ ...SERVER_COUNTS, ...CLIENT_COUNTS, 'firsttoken_joined{direct}': '1' });

    const together = await new Request().commit(client, server, client, server).counted();
    expect(Object.values(together).every((value) => value.startsWith('1'))).toBe(true);
    expect(together).toMatchObject(SERVER_COUNTS);
  });

  test('the TTFT with the first beacon that has it, the rest with the first final one', async () => {
    const request = new Request();
    request.commit(exampleClient({ seq: 0, status: 'streaming' }));
    expect(await request.counted()).toEqual({});
    request.commit(exampleClient({ seq: 1, status: 'streaming', arrivals_ms: [100, 200, 250] }));
    expect(await request.counted()).toEqual({ 'ttft_client_seconds{unknown,unknown,unknown,unknown}': '1: 100 ms' });
    request.commit({ ...client, seq: 2, ttftMs: 101 });
    request.commit({ ...client, seq: 3, status: 'error', ttftMs: 102 });
    const counted = await request.counted();
    expect(counted).toMatchObject({
      'streams{complete,unknown}': '1',
      'tpot_stddev_seconds{unknown,mobile}': '1: 25 ms',
    });
    expect(Object.keys(counted).filter((name) => /^(ttft|streams)/.test(name))).toHaveLength(2);
  });

  test('a stream without a token: its outcome, and no sample', async () => {
    const request = new Request().commit(exampleClient({ status: 'no_output', end_ms: 50 }));
    expect(await request.counted()).toEqual({ 'streams{no_output,unknown}': '1' });
  });

  test('a later direct half with more stamps is not counted again', async () => {
    const less = exampleServer({ timing_trace: '0,2000000,4000000,7000000,12000000,19000000,22000000' });
    const request = new Request().commit(less).commit(server);
    expect(request.row).toMatchObject({ stamp_count: 7 });
    expect((await request.counted())['ttft_seconds{unknown,unknown,unknown,unknown,unknown}']).toBe('1: 20 ms');
    expect(await request.counted()).not.toHaveProperty('ttft_seconds{llama,/api/chat,vip,int4,gpu-03}');
  });
});

describe('what a client cannot know', () => {
  test('it slept: stored, and only its outcome is counted', async () => {
    const slept = { ...client, flagMask: FLAG_BITS.suspended, flagBits: FLAG_BITS.suspended };
    expect(await new Request().commit(slept).counted()).toEqual({ 'streams{complete,unknown}': '1' });
    const joined = await new Request().commit(server).commit(slept).settle().counted();
    expect(joined).toEqual({
      ...SERVER_COUNTS,
      'streams{complete,llama}': '1',
      'firsttoken_joined{direct}': '1',
      'firsttoken_settled{yes,direct}': '1',
    });
  });

  test('a proxy held the stream back: gaps and TPOT are not counted, TTFT and the hidden tax are', async () => {
    const held = exampleClient({
      arrivals_ms: Array(20).fill(2_760),
      chunk_tokens: Array(20).fill(1),
      coalesced: true,
    });
    const counted = await new Request().commit(server).commit(held).settle().counted();
    expect(counted).toMatchObject({
      'ttft_client_seconds{llama,/api/chat,unknown,unknown}': '1: 2760 ms',
      'hidden_tax_seconds{llama,unknown}': '1: 2740 ms',
    });
    expect(Object.keys(counted).filter((name) => /^(tpot|stream_gap)/.test(name))).toEqual([]);
  });
});

describe('at settlement', () => {
  test('an echo: nothing on arrival, then its TTFT and stages', async () => {
    const request = new Request().commit({ ...client, model: 'llama', echo: exampleEcho() });
    const before = await request.counted();
    expect(Object.keys(before).filter((name) => /^ttft_seconds|first_token|^hidden/.test(name))).toEqual([]);
    expect(before).toMatchObject({ 'firsttoken_joined{echo}': '1' });
    expect(await request.settle().counted()).toMatchObject({
      'ttft_seconds{llama,unknown,unknown,unknown,unknown}': '1: 20 ms',
      'stage_duration_seconds{first_token,llama}': '1: 5 ms',
      'hidden_tax_seconds{llama,eu-west}': '1: 80 ms',
      'stage_duration_seconds{network,llama}': '1: 79 ms',
      'firsttoken_settled{yes,echo}': '1',
    });
  });

  test('an echo that a direct half replaced is counted as the latter, once', async () => {
    const counted = await new Request()
      .commit({ ...client, echo: exampleEcho() })
      .commit(server)
      .settle()
      .counted();
    expect(counted).toMatchObject({
      ...SERVER_COUNTS,
      'firsttoken_joined{echo}': '1',
      'firsttoken_settled{yes,direct}': '1',
    });
  });

  test('in one commit with both halves', async () => {
    const request = new Request().commit(server, client);
    const settledAtOnce = new Request();
    measure(settledAtOnce.metrics, { has: () => true }, null, { ...request.row!, settled: true });
    const counted = await settledAtOnce.counted();
    expect(counted).toMatchObject({
      ...SERVER_COUNTS,
      'hidden_tax_seconds{llama,eu-west}': '1: 80 ms',
      'firsttoken_joined{direct}': '1',
      'firsttoken_settled{yes,direct}': '1',
    });
  });

  test('a gateway half', async () => {
    const request = new Request().commit(server).commit(client).change({ gateway_ns: 4e6, gateway_status: 200 });
    expect(await request.counted()).not.toHaveProperty('stage_duration_seconds{gateway,llama}');
    expect(await request.settle().counted()).toMatchObject({ 'stage_duration_seconds{gateway,llama}': '1: 4 ms' });
  });

  test('a stream that never ended is counted as streaming, without a TPOT', async () => {
    const request = new Request().commit(
      exampleClient({ status: 'streaming', arrivals_ms: [100, 200], chunk_tokens: [1, 9] }),
    );
    expect(await request.settle().counted()).toEqual({
      'ttft_client_seconds{unknown,unknown,unknown,unknown}': '1: 100 ms',
      'streams{streaming,unknown}': '1',
      'firsttoken_settled{yes,none}': '1',
    });
  });

  test('a server alone', async () => {
    const counted = await new Request().commit(server).settle().counted();
    expect(counted).toEqual({ ...SERVER_COUNTS, 'firsttoken_settled{no,direct}': '1' });
  });

  test('nothing after it', async () => {
    const request = new Request().commit(server).settle();
    const before = await request.counted();
    request.commit(client).change({ gateway_ns: 5, gateway_status: 200 }).settle();
    expect(request.row).toMatchObject({ status: 'complete', network_ns: expect.any(Number) });
    expect(await request.counted()).toEqual(before);
  });
});

describe('two accounts that contradict each other', () => {
  test('a client sooner than its server: counted as an anomaly, no tax and no network', async () => {
    const counted = await new Request()
      .commit(server)
      .commit(exampleClient({ ttft_ms: 10 }))
      .settle()
      .counted();
    expect(counted).toMatchObject({ 'firsttoken_clock_anomalies{}': '1' });
    expect(Object.keys(counted).filter((name) => /^hidden|network/.test(name))).toEqual([]);
  });

  test('only the upload makes it one: the tax is still a true difference, the network is not', async () => {
    const slowUpload = exampleServer({ timing_trace: '1000000,51000000,0,0,0,0,71000000' });
    const counted = await new Request()
      .commit(slowUpload)
      .commit(exampleClient({ ttft_ms: 60 }))
      .settle()
      .counted();
    expect(counted).toMatchObject({
      'firsttoken_clock_anomalies{}': '1',
      'hidden_tax_seconds{unknown,unknown}': '1: 40 ms',
    });
    expect(counted).not.toHaveProperty('stage_duration_seconds{network,unknown}');
  });
});

describe('labels', () => {
  test('nobody named it: unknown; named, but not accepted: other, and counted', async () => {
    const odd = exampleServer({ timing_trace: '0,1,0,0,0,0,2', model: 'new', tier: 'vip' });
    expect(await new Request().commit(odd).counted()).toMatchObject({
      'ttft_seconds{other,unknown,vip,unknown,unknown}': '1: 0.000001 ms',
      'firsttoken_label_overflow{ttft_seconds,model}': '1',
    });
  });

  test('what was screened to `other` before is no overflow here', async () => {
    const counted = await new Request().commit(exampleClient({ ttft_ms: 5, model: 'other' })).counted();
    expect(counted).toEqual({
      'ttft_client_seconds{other,unknown,unknown,unknown}': '1: 5 ms',
      'streams{complete,other}': '1',
    });
  });

  test('the trace id is an exemplar and never a label', async () => {
    const { metrics } = new Request().commit(server);
    const written = await metrics.render('openmetrics');
    expect(written).toContain(`# {trace_id="${EXAMPLE_KEY}"} 0.02`);
    expect(await metrics.render('text')).not.toContain(EXAMPLE_KEY);
  });
});

test('a second direct half is counted for what the first did not know, and only for that', async () => {
  const early = exampleServer({ timing_trace: '0,2000000,4000000,0,0,0,0', model: 'llama' });
  const late = exampleServer({ timing_trace: '0,2000000,4000000,7000000,12000000,0,0', model: 'llama' });
  const request = new Request().commit(early).commit(late).commit(late);
  const counted = await request.counted();
  expect(counted['ttft_seconds{llama,unknown,unknown,unknown,unknown}']).toBe('1: 10 ms');
  expect(counted['stage_duration_seconds{preprocess,llama}']).toBe('1: 2 ms');
  expect(counted['stage_duration_seconds{first_token,llama}']).toBe('1: 5 ms');
});
