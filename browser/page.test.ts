import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Beacon } from '../contract/beacon.ts';
import { openPage, PAGE, type PageDouble } from './pageDouble.ts';
import { catchBeacons, type TimedAnswer, timedResponse, useFakeClock } from './timedAnswer.ts';

const token = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
const DONE = 'data: [DONE]\n\n';

let page: PageDouble;
let sdk: typeof import('./index.ts');
let posted: Beacon[];

// Each test has a page, and a page loads its scripts anew.
beforeEach(async () => {
  vi.resetModules();
  page = openPage();
  posted = catchBeacons();
  sdk = await import('./index.ts');
  await import('./reporting.ts');
  useFakeClock();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const beaconed = (): Beacon[] =>
  page.beaconed.flatMap((body) => body.trim().split('\n')).map((line) => JSON.parse(line));

async function open(answer: TimedAnswer, options: Parameters<typeof sdk.tracedFetch>[2] = {}): Promise<void> {
  sdk.configure({ fetch: async () => timedResponse(answer) });
  const response = await sdk.tracedFetch('/api/chat', {}, options);
  response.text().catch(() => {});
}
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('hidden, then hidden again, then the end: one beacon for each piece of news, rising', async () => {
  await open({
    arrivals: [
      [100, token],
      [300, token],
      [500, DONE],
    ],
    endsAt: 500,
  });
  await wait(200);
  page.hide();
  page.leave(true);
  page.show();
  await wait(50);
  page.hide();
  page.show();
  await wait(100);
  page.hide();
  await wait(2000);
  expect(beaconed().map(({ seq, status, output_tokens }) => [seq, status, output_tokens])).toEqual([
    [1, 'streaming', 1],
    [2, 'streaming', 2],
  ]);
  expect(posted.map(({ seq, status, hidden }) => [seq, status, hidden])).toEqual([[3, 'complete', true]]);
});

test('a stream after the page came back is another one', async () => {
  await open({
    arrivals: [
      [100, token],
      [200, DONE],
    ],
    endsAt: 200,
  });
  await wait(150);
  page.leave(true);
  await wait(2000);
  page.show();
  await open({
    arrivals: [
      [100, token],
      [200, DONE],
    ],
    endsAt: 200,
  });
  await wait(2000);
  const all = [...beaconed(), ...posted];
  expect(all.map(({ seq, status, hidden }) => [seq, status, hidden])).toEqual([
    [1, 'streaming', true],
    [2, 'complete', true],
    [1, 'complete', false],
  ]);
  expect(new Set(all.map(({ trace_id }) => trace_id)).size).toBe(2);
});

test('a page that is closed aborts its streams, once', async () => {
  await open({ arrivals: [[100, token]] });
  await wait(200);
  page.leave(false);
  await wait(120_000);
  expect(beaconed().map(({ seq, status, end_ms, ttft_ms }) => [seq, status, end_ms, ttft_ms])).toEqual([
    [1, 'aborted', 200, 100],
  ]);
  expect(posted).toEqual([]);
});

test('what has ended and waits for its batch goes along when the page is closed', async () => {
  await open({ arrivals: [[100, token + DONE]], endsAt: 100 });
  await wait(200);
  page.leave(false);
  await wait(120_000);
  expect(beaconed().map(({ seq, status }) => [seq, status])).toEqual([[1, 'complete']]);
  expect(posted).toEqual([]);
});

test('says what kind of device and network, and what the page knows', async () => {
  sdk.configure({ about: { route: '/api/chat', tier: 'vip' } });
  await open({ arrivals: [[100, token + DONE]], endsAt: 100 }, { about: { model: 'm' }, callId: 'c1' });
  await wait(2000);
  expect(posted).toMatchObject([
    { device: 'mobile', connection: '4g', route: '/api/chat', tier: 'vip', model: 'm', call_id: 'c1' },
  ]);
  expect(JSON.stringify(posted)).not.toContain('Mozilla');
});

test('painting: by the next frame, or by the next frame after the page says so; never while hidden', async () => {
  await open({
    arrivals: [
      [100, token],
      [104, token],
      [300, token],
      [400, DONE],
    ],
    endsAt: 400,
  });
  await wait(116);
  page.frame();
  await wait(200);
  page.hide();
  page.show();
  page.frame();
  await wait(2000);
  expect(posted.at(-1)!.render).toEqual({ first_ms: 116, p50_ms: 16, max_ms: 16 });

  await open(
    {
      arrivals: [
        [100, token],
        [400, DONE],
      ],
      endsAt: 400,
    },
    { render: 'manual' },
  );
  await wait(200);
  page.frame();
  sdk.markRendered();
  await wait(10);
  page.frame();
  await wait(2000);
  expect(posted.at(-1)!.render).toEqual({ first_ms: 210, p50_ms: 110, max_ms: 110 });
});

test('painting: of a quick stream one token in a tenth of a second is watched', async () => {
  const asked = vi.fn(requestAnimationFrame);
  vi.stubGlobal('requestAnimationFrame', asked);
  const tokens = Array.from({ length: 100 }, (_, n) => [100 + n * 10, token] as const);
  await open({ arrivals: [...tokens, [1_100, DONE]], endsAt: 1_100 });
  for (let passed = 0; passed < 1_200; passed += 16) {
    await wait(16);
    page.frame();
  }
  await wait(2_000);
  expect(posted.at(-1)).toMatchObject({ output_tokens: 100, render: { first_ms: 112 } });
  expect(asked.mock.calls.length).toBeGreaterThanOrEqual(8);
  expect(asked.mock.calls.length).toBeLessThanOrEqual(10);
});

test('the timeline shows a stream and its connection, under its trace id', async () => {
  const drawn: [name: string, ms: number][] = [];
  const start = performance.now();
  const entry = {
    startTime: start,
    domainLookupStart: 1,
    domainLookupEnd: 3,
    connectStart: 3,
    secureConnectionStart: 8,
  };
  const entries = [
    { startTime: start - 1, requestStart: 1 },
    { ...entry, connectEnd: 15, requestStart: 15, responseStart: 95 },
  ];
  vi.stubGlobal('performance', {
    now: performance.now.bind(performance),
    getEntriesByName: (name: string) => (name === `${PAGE}/api/chat` ? entries : []),
    measure: (name: string, span: { start: number; end: number }) => void drawn.push([name, span.end - span.start]),
  });
  await open({
    arrivals: [
      [100, token],
      [300, token],
      [400, DONE],
    ],
    endsAt: 400,
  });
  await wait(2000);
  const id = posted[0]!.trace_id;
  expect(drawn).toEqual([
    [`${id} dns`, 2],
    [`${id} tcp`, 5],
    [`${id} tls`, 7],
    [`${id} wait`, 80],
    [`${id} ttft`, 100],
    [`${id} stream`, 300],
  ]);
  expect(posted[0]!.connection_ms).toEqual({ dns: 2, tcp: 5, tls: 7, wait: 80 });
});

test('after 410 the page measures no more, and its requests go on', async () => {
  vi.stubGlobal('fetch', async () => new Response('', { status: 410 }));
  await open({ arrivals: [[100, token + DONE]], endsAt: 100 });
  await wait(2000);
  const answers: Response[] = [];
  sdk.configure({
    fetch: async () => {
      answers.push(timedResponse({ arrivals: [], endsAt: 0 }));
      return answers.at(-1)!;
    },
  });
  expect(await sdk.tracedFetch('/api/chat')).toBe(answers[0]);
  page.leave(false);
  expect(page.beaconed).toEqual([]);
});
