import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { observeEventSource } from './eventSource.ts';
import { configure, flush } from './index.ts';
import { catchBeacons, ENDPOINT, useFakeClock } from './timedAnswer.ts';

/** An event source whose events the test sends. */
class EventSourceDouble extends EventTarget {
  readonly url: string;
  closed = false;
  constructor(url: string) {
    super();
    this.url = url;
  }
  send(type: string, data = ''): void {
    this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId: '' }));
  }
  close(): void {
    this.closed = true;
  }
}

const ID = 'ab'.repeat(16);
const token = '{"choices":[{"delta":{"content":"x"}}]}';
let beacons: ReturnType<typeof catchBeacons>;
let source: EventSourceDouble;

beforeEach(() => {
  useFakeClock();
  beacons = catchBeacons();
  configure({ endpoint: ENDPOINT });
  source = new EventSourceDouble(`https://app.example/chat?trace_id=${ID}`);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const observe = (options = {}) => observeEventSource(source as unknown as EventSource, options);
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('the id of the address, the times of the events, the facts of the last one', async () => {
  expect(observe()).toBe(source);
  source.send('open');
  await wait(100);
  source.send('message', token);
  await wait(50);
  source.send('message', token);
  source.send('message', '[DONE]');
  source.send('firsttoken', `{"trace_id":"${ID}","timing_trace":"1,2,3,4,5,6,7"}`);
  source.close();
  await flush();
  expect(source.closed).toBe(true);
  expect(beacons).toMatchObject([
    { trace_id: ID, status: 'complete', arrivals_ms: [100, 150], end_ms: 150, timing_trace: '1,2,3,4,5,6,7' },
  ]);
});

test('a reconnection ends the record, and what comes after it is not counted', async () => {
  observe();
  source.send('open');
  await wait(100);
  source.send('message', token);
  await wait(50);
  source.send('error');
  await wait(3000);
  source.send('open');
  source.send('message', token);
  source.send('message', '[DONE]');
  await flush();
  expect(beacons).toMatchObject([{ status: 'truncated', arrivals_ms: [100], end_ms: 150 }]);
});

test.each([
  ['never connected', () => source.send('error'), 'error'],
  ['closed by the page', () => source.close(), 'aborted'],
])('%s', async (_, happen, status) => {
  observe();
  await wait(50);
  happen();
  await flush();
  expect(beacons).toMatchObject([{ status, end_ms: 50 }]);
});

test('named events; events of one read are told by their time', async () => {
  observe({
    eventNames: ['delta'],
    tokensOf: ({ event, data }: { event: string; data: string }) => ({
      token: event === 'delta',
      terminator: data === 'end',
    }),
  });
  source.send('open');
  await wait(900);
  for (let index = 0; index < 6; index++) source.send('delta', 'x');
  source.send('message', 'end');
  source.close();
  await flush();
  expect(beacons).toMatchObject([{ status: 'complete', output_tokens: 6, coalesced: true }]);
});

test('whatever else it is given, it gives it back', () => {
  const broken = { url: 'no address' } as EventSource;
  expect(observeEventSource(broken)).toBe(broken);
});
