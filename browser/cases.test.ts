import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Beacon } from '../contract/beacon.ts';
import { readRaw } from './presets.ts';
import { type Arrival, measure, useFakeClock } from './timedAnswer.ts';

beforeEach(useFakeClock);
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const event = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;
const delta = (fields: object): string => event({ choices: [{ index: 0, delta: fields }] });
const token = (text = 'x'): string => delta({ content: text });
const finish = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = (counts: object): string => event({ choices: [], usage: counts });
const DONE = 'data: [DONE]\n\n';

const gaps = ({ arrivals_ms: arrivals }: Beacon): number[] =>
  arrivals!.slice(1).map((at, before) => Math.round((at - arrivals![before]!) * 10) / 10);

test('only generated tokens count: no comment, no role frame, no empty text; reasoning does', async () => {
  const beacon = await measure({
    arrivals: [
      [1000, ': OPENROUTER PROCESSING\n\n'],
      [1500, delta({ role: 'assistant', content: '' })],
      [2100, delta({ content: null, reasoning_content: 'Let' })],
      [2200, delta({ content: '', reasoning_content: ' me' })],
      [7300, token('Yes')],
      [7400, token('.') + finish + DONE],
    ],
    endsAt: 7400,
  });
  expect(beacon).toMatchObject({ ttft_ms: 2100, ttft_visible_ms: 7300, status: 'complete', output_tokens: 4 });
  expect(beacon.arrivals_ms).toHaveLength(4);
  expect(gaps(beacon)).toEqual([100, 5100, 100]);
});

describe('a chunk is not a token', () => {
  const tokensOf = ({ data }: { data: string }) =>
    data === '[DONE]' ? { terminator: true, last: true } : { token: true, visible: true, tokenCount: Number(data) };
  const run = (counts: readonly (readonly [atMs: number, tokens: number])[]) =>
    measure(
      {
        arrivals: [
          ...counts.map(([atMs, count]): Arrival => [atMs, `data: ${count}\n\n`]),
          [counts.at(-1)![0] + 10, DONE],
        ],
        endsAt: counts.at(-1)![0] + 10,
      },
      { tokensOf },
    );

  test.each([
    [
      [
        [100, 1],
        [200, 4],
        [300, 4],
      ],
      9,
    ],
    [
      [
        [10_000, 10],
        [20_000, 10],
        [30_000, 10],
        [40_000, 10],
        [50_000, 10],
      ],
      50,
    ],
    [[[350, 40]], 40],
    [[[350, 1]], 1],
  ] as const)('%j', async (counts, sum) => {
    const beacon = await run(counts);
    expect(beacon.chunk_tokens).toEqual(counts.map(([, count]) => count));
    expect(beacon.arrivals_ms).toEqual(counts.map(([atMs]) => atMs));
    expect(beacon).toMatchObject({ output_tokens: sum, output_tokens_source: 'chunks', status: 'complete' });
  });

  test('the engine that repeats the sum so far gives the tokens of each event', async () => {
    const chunk = (sum: number) =>
      event({ choices: [{ delta: { content: 'x' } }], usage: { completion_tokens: sum, prompt_tokens: 7 } });
    const beacon = await measure({
      arrivals: [
        [100, chunk(1)],
        [200, chunk(5)],
        [300, chunk(9) + DONE],
      ],
      endsAt: 300,
    });
    expect(beacon).toMatchObject({ chunk_tokens: [1, 4, 4], output_tokens: 9, output_tokens_source: 'usage' });
    expect(beacon.prompt_tokens).toBe(7);
  });

  test('usage at the end leaves the chunks unknown; reasoning that was not streamed is no output', async () => {
    const counts = { completion_tokens: 30, completion_tokens_details: { reasoning_tokens: 20 } };
    const hidden = await measure({ arrivals: [[100, token() + usage(counts) + DONE]], endsAt: 100 });
    expect(hidden.chunk_tokens).toBeUndefined();
    expect(hidden).toMatchObject({ output_tokens: 10, output_tokens_source: 'usage' });
    const streamed = await measure({
      arrivals: [[100, delta({ reasoning: 'hm' }) + token() + usage(counts) + DONE]],
      endsAt: 100,
    });
    expect(streamed.output_tokens).toBe(30);
  });
});

test('a proxy that held the stream back is told by its one read', async () => {
  const beacon = await measure({ arrivals: [[2760, token().repeat(10) + DONE]], endsAt: 2760 });
  expect(beacon).toMatchObject({ ttft_ms: 2760, coalesced: true });
  expect(gaps(beacon)).toEqual(Array(9).fill(0));
});

test.each([
  [3, 0, false],
  [4, 2, false],
  [4, 3, true],
])('coalesced: of %i events %i shared a read: %s', async (events, shared, expected) => {
  const together = token().repeat(shared + 1);
  const alone = Array.from({ length: events - shared - 1 }, (_, index): Arrival => [200 + index, token()]);
  const beacon = await measure({ arrivals: [[100, together], ...alone, [900, DONE]], endsAt: 900 });
  expect(beacon.coalesced).toBe(expected);
});

test('a character cut in two is one token, when its blank line is there', async () => {
  const cut = [
    '646174613a207b2263686f69636573223a5b7b2264656c7461223a7b22636f6e74656e74223a22e5',
    '8c97f09f',
    '8c8d227d7d5d7d0a0a',
  ].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
  const beacon = await measure({
    arrivals: [
      [100, cut[0]!],
      [150, cut[1]!],
      [900, cut[2]!],
    ],
    endsAt: 950,
  });
  expect(beacon).toMatchObject({ arrivals_ms: [900], ttft_ms: 900 });
});

test('`data:` without a space, and one JSON over several lines', async () => {
  const beacon = await measure({
    arrivals: [
      [100, 'data:{"choices":\ndata:[{"delta":{"content":"Hi"}}]}\n\n'],
      [200, 'data\n\n'],
    ],
    endsAt: 200,
  });
  expect(beacon.arrivals_ms).toEqual([100]);
});

describe('how a stream ends', () => {
  test.each<[string, readonly Arrival[], number | undefined, string, number | undefined]>([
    ['a token, then nothing', [[100, token()]], 150, 'truncated', 100],
    [
      'an end marker, no finish reason',
      [
        [100, token()],
        [200, DONE],
      ],
      200,
      'complete',
      100,
    ],
    [
      'a finish reason, no end marker',
      [
        [100, token()],
        [200, finish],
      ],
      250,
      'complete',
      100,
    ],
    [
      'an error among it',
      [
        [100, token()],
        [200, event({ error: { message: 'x' } })],
        [210, DONE],
      ],
      210,
      'error',
      100,
    ],
    [
      'no token at all',
      [
        [100, delta({ role: 'assistant' })],
        [200, finish + DONE],
      ],
      200,
      'no_output',
      undefined,
    ],
    ['half an event', [[100, 'data: {"choi']], 150, 'truncated', undefined],
    [
      'a break',
      [
        [100, token()],
        [150, new TypeError('network error')],
      ],
      undefined,
      'truncated',
      100,
    ],
    [
      'an abort',
      [
        [100, token()],
        [150, new DOMException('x', 'AbortError')],
      ],
      undefined,
      'aborted',
      100,
    ],
  ])('%s', async (_, arrivals, endsAt, status, ttftMs) => {
    const beacon = await measure({ arrivals, ...(endsAt !== undefined && { endsAt }) });
    expect(beacon.status).toBe(status);
    expect(beacon.ttft_ms).toBe(ttftMs);
  });

  test('an end marker is the end, however long the connection stays open', async () => {
    const open = await measure({
      arrivals: [
        [100, token()],
        [200, DONE],
      ],
    });
    expect(open).toMatchObject({ status: 'complete', end_ms: 200 });
    const closed = await measure({
      arrivals: [
        [100, token()],
        [200, finish],
      ],
      endsAt: 120_200,
    });
    expect(closed).toMatchObject({ status: 'complete', end_ms: 200 });
  });

  test('raw text ends with its connection', async () => {
    const text = {
      arrivals: [
        [100, 'Hel'],
        [200, 'lo'],
      ],
      endsAt: 250,
      type: 'text/plain',
    } as const;
    expect(await measure(text)).toMatchObject({ status: 'complete', arrivals_ms: [100, 200], end_ms: 250 });
    const events = { arrivals: [[100, 'data: Hi\n\n']], endsAt: 250 } as const;
    expect(await measure(events, { tokensOf: readRaw })).toMatchObject({ status: 'complete', end_ms: 250 });
    const broken = {
      arrivals: [
        [100, 'data: Hi\n\n'],
        [150, new TypeError('reset')],
      ],
    } as const;
    expect(await measure(broken, { tokensOf: readRaw })).toMatchObject({ status: 'truncated' });
  });

  test('an answer that is no stream has one token-bearing event, its first bytes', async () => {
    const answer = {
      arrivals: [
        [100, '{"choices":'],
        [101, '[]}'],
      ],
      endsAt: 102,
      type: 'application/json',
    } as const;
    expect(await measure(answer)).toMatchObject({ status: 'complete', arrivals_ms: [100], end_ms: 102 });
  });
});

test('a machine that slept says so; its monotonic times stay what they are', async () => {
  const sleep = 28_798_000;
  const beacons: Beacon[] = [];
  vi.setSystemTime(1_785_491_532_000);
  setTimeout(() => vi.setSystemTime(Date.now() + sleep), 1000);
  const beacon = await measure(
    {
      arrivals: [
        [2000, token()],
        [2100, DONE],
      ],
      endsAt: 2100,
    },
    { onBeacon: (each) => void beacons.push(each) },
  );
  expect(beacon).toMatchObject({ suspended: true, ttft_ms: 2000, end_ms: 2100 });
});

test('the server dates a beacon by what the page counted since the request, not by any wall clock', async () => {
  vi.setSystemTime(1_783_699_200_000);
  const beacon = await measure(
    {
      arrivals: [
        [100, token()],
        [20_000, DONE],
      ],
      endsAt: 20_000,
    },
    {},
    20_000,
  );
  expect(beacon.since_start_ms).toBe(20_000);
  expect(JSON.stringify(beacon)).not.toMatch(/178\d{10}/);
});

test('every stream says the same, wherever it is cut', async () => {
  const text =
    ': ping\r\n\r\n' +
    delta({ role: 'assistant', content: '' }) +
    'data:{"choices":\rdata:[{"delta":{"content":"\u5317\u{1F30D}"}}]}\r\r' +
    delta({ tool_calls: [{ function: { name: 'f' } }] }) +
    finish +
    usage({ completion_tokens: 9 }) +
    DONE;
  const bytes = new TextEncoder().encode(text);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const beacon = await measure(
      {
        arrivals: [
          [100, bytes.slice(0, cut)],
          [200, bytes.slice(cut)],
        ],
        endsAt: 200,
      },
      {},
      200,
    );
    expect(beacon).toMatchObject({ status: 'complete', output_tokens: 9 });
    expect(beacon.arrivals_ms).toHaveLength(2);
  }
  const single = Array.from(bytes, (_, at): Arrival => [100 + at, bytes.slice(at, at + 1)]);
  expect((await measure({ arrivals: single, endsAt: 5000 })).arrivals_ms).toHaveLength(2);
});
