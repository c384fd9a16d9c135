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

test('a reconnection is another attempt of the same call, from the break on', async () => {
  observe();
  source.send('open');
  await wait(100);
  source.send('message', token);
  await wait(50);
  source.send('error');
  await wait(3000);
  // The first try fails.
  source.send('error');
  await wait(3000);
  source.send('open');
  await wait(20);
  source.send('message', token);
  source.send('message', '[DONE]');
  source.close();
  await flush();
  expect(beacons).toMatchObject([
    { trace_id: ID, call_id: ID, status: 'truncated', arrivals_ms: [100], end_ms: 150 },
    { call_id: ID, seq: 1, status: 'complete', arrivals_ms: [6020], end_ms: 6020 },
  ]);
  expect(beacons[1]!.trace_id).toMatch(/^[\da-f]{32}$/);
  expect(beacons[1]!.trace_id).not.toBe(ID);
});

test('a reconnection that is refused is no attempt: so a server ends one for good', async () => {
  observe({ callId: 'call-1' });
  source.send('open');
  source.send('message', token);
  source.send('message', '[DONE]');
  source.send('error');
  await wait(3000);
  source.send('error');
  await flush();
  expect(beacons).toMatchObject([{ trace_id: ID, call_id: 'call-1', status: 'complete' }]);
});

test('who closes between two connections has aborted nothing', async () => {
  observe();
  source.send('open');
  source.send('message', token);
  source.send('error');
  source.close();
  await flush();
  expect(beacons).toMatchObject([{ status: 'truncated' }]);
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
