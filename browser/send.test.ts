import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Beacon } from '../contract/beacon.ts';
import { openPage, type PageDouble } from './pageDouble.ts';
import { createSender, type Reporter } from './send.ts';
import { ENDPOINT, useFakeClock } from './timedAnswer.ts';

interface Named extends Reporter {
  readonly id: string;
}

/** A reporter with a beacon of so many bytes, with its line feed. */
function reporter(id: string, bytes = 100, letter = 'x'): Named {
  let seq = 0;
  const beacon = (model: string): Beacon => ({ v: 1, trace_id: id, status: 'complete', seq, model });
  const empty = Buffer.byteLength(JSON.stringify(beacon(''))) + 1;
  return {
    id,
    changed: true,
    build() {
      seq++;
      return beacon(letter.repeat((bytes - empty) / Buffer.byteLength(letter)));
    },
  };
}

const idsIn = (body: string): string[] =>
  body
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as Beacon).trace_id);

interface Post {
  readonly body: string;
  readonly keepalive: boolean;
}

/** Answers posts with these statuses, then with 202. 0 is no answer. */
function ingest(...answers: (number | Response)[]): Post[] {
  const posts: Post[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body, keepalive }: Post) => {
    posts.push({ body, keepalive });
    const answer = answers.shift() ?? 202;
    if (answer === 0) throw new TypeError('Failed to fetch');
    return typeof answer === 'number' ? new Response('{}', { status: answer }) : answer;
  });
  return posts;
}

let page: PageDouble;
beforeEach(() => {
  useFakeClock();
  page = openPage();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the budget of 64 KiB', () => {
  test('three batches at once: two go as beacons, the third by a plain fetch, none twice', async () => {
    const posts = ingest();
    const sender = createSender<Named>(() => {});
    for (const id of ['a', 'b', 'c']) {
      sender.add(reporter(id, 30_000), ENDPOINT);
      sender.flush(true);
    }
    await vi.advanceTimersByTimeAsync(120_000);
    expect(page.beaconed.flatMap(idsIn)).toEqual(['a', 'b']);
    expect(posts.map(({ body, keepalive }) => [idsIn(body), keepalive])).toEqual([[['c'], false]]);
  });

  test('70,000 bytes are split in two', async () => {
    const posts = ingest();
    const sender = createSender<Named>(() => {});
    const ids = Array.from({ length: 70 }, (_, index) => `r${index}`);
    for (const id of ids) sender.add(reporter(id, 1000), ENDPOINT);
    sender.flush(true);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(page.beaconed.map((body) => Buffer.byteLength(body))).toEqual([60_000]);
    expect([...page.beaconed, ...posts.map(({ body }) => body)].flatMap(idsIn)).toEqual(ids);
  });

  test('it is counted in bytes, not in characters', async () => {
    const posts = ingest();
    const sender = createSender<Named>(() => {});
    for (let index = 0; index < 9; index++) sender.add(reporter(`r${index}`, 10_000, '\u5317'), ENDPOINT);
    await sender.flush(true);
    const bodies = [...page.beaconed, ...posts.map(({ body }) => body)];
    expect(bodies.every((body) => Buffer.byteLength(body) <= 60_000)).toBe(true);
    expect(bodies.flatMap(idsIn)).toHaveLength(9);
  });

  test('a beacon that is too large by itself goes without keepalive', async () => {
    const posts = ingest();
    const sender = createSender<Named>(() => {});
    sender.add(reporter('large', 70_000), ENDPOINT);
    await sender.flush();
    expect(posts.map(({ keepalive }) => keepalive)).toEqual([false]);
  });

  test('a page without sendBeacon, and one whose sendBeacon throws, fetches', async () => {
    const posts = ingest();
    vi.stubGlobal('navigator', {});
    const sender = createSender<Named>(() => {});
    sender.add(reporter('a'), ENDPOINT);
    await sender.flush(true);
    expect(posts.flatMap(({ body }) => idsIn(body))).toEqual(['a']);
  });
});

test('batches go after a second, within the budget so that they outlive the page', async () => {
  const posts = ingest();
  const sender = createSender<Named>(() => {});
  sender.add(reporter('a'), ENDPOINT);
  await vi.advanceTimersByTimeAsync(900);
  sender.add(reporter('b'), ENDPOINT);
  expect(posts).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(posts.map(({ body, keepalive }) => [idsIn(body), keepalive])).toEqual([[['a', 'b'], true]]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(posts).toHaveLength(1);
});

test('the answer is read, so that its bytes are given back to the budget', async () => {
  const answer = new Response('{}', { status: 202 });
  ingest(answer);
  const sender = createSender<Named>(() => {});
  sender.add(reporter('a'), ENDPOINT);
  await sender.flush();
  expect(answer.bodyUsed).toBe(true);
});

test('nothing new is nothing to send', async () => {
  const posts = ingest();
  const sender = createSender<Named>(() => {});
  const one = reporter('a');
  sender.add(one, ENDPOINT);
  await sender.flush();
  sender.add(one, ENDPOINT);
  await sender.flush(true);
  expect([...posts.map(({ body }) => body), ...page.beaconed]).toHaveLength(1);
});

test('410 silences for good, once', async () => {
  const posts = ingest(410);
  const onUnwanted = vi.fn();
  const sender = createSender<Named>(onUnwanted);
  sender.add(reporter('a'), ENDPOINT);
  await sender.flush();
  sender.add(reporter('b'), ENDPOINT);
  await sender.flush();
  await sender.flush(true);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(posts).toHaveLength(1);
  expect(page.beaconed).toEqual([]);
  expect(onUnwanted).toHaveBeenCalledOnce();
});

test.each([0, 503, 429, 500])(
  'after %i a beacon waits and goes again, without keepalive, with a higher seq',
  async (status) => {
    const posts = ingest(status, status);
    const sender = createSender<Named>(() => {});
    sender.add(reporter('a'), ENDPOINT);
    await vi.advanceTimersByTimeAsync(1000);
    expect(posts).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1999);
    expect(posts).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(posts).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(4000);
    expect(posts.map(({ body, keepalive }) => [(JSON.parse(body) as Beacon).seq, keepalive])).toEqual([
      [1, true],
      [2, false],
      [3, false],
    ]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(posts).toHaveLength(3);
  },
);

test('Retry-After is waited for', async () => {
  const posts = ingest(new Response('', { status: 429, headers: { 'retry-after': '30' } }));
  const sender = createSender<Named>(() => {});
  sender.add(reporter('a'), ENDPOINT);
  await vi.advanceTimersByTimeAsync(30_900);
  sender.add(reporter('b'), ENDPOINT);
  expect(posts).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(posts.slice(1).flatMap(({ body }) => idsIn(body))).toEqual(['a', 'b']);
});

test('what is refused for good is not sent again', async () => {
  const posts = ingest(400);
  const sender = createSender<Named>(() => {});
  sender.add(reporter('a'), ENDPOINT);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(posts).toHaveLength(1);
});

test('a page that is left takes what waited for a retry along', async () => {
  const posts = ingest(503);
  const sender = createSender<Named>(() => {});
  sender.add(reporter('a'), ENDPOINT);
  await sender.flush();
  await sender.flush(true);
  expect(page.beaconed.flatMap(idsIn)).toEqual(['a']);
  // And what comes after it still goes.
  sender.add(reporter('b'), ENDPOINT);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(posts.slice(1).flatMap(({ body }) => idsIn(body))).toEqual(['b']);
});

test('while the ingest is away, the memory stays bounded: the oldest go', async () => {
  const posts = ingest(...Array<number>(30).fill(0));
  const sender = createSender<Named>(() => {});
  for (let index = 0; index < 1000; index++) sender.add(reporter(`r${index}`), ENDPOINT);
  await sender.flush();
  expect(posts.flatMap(({ body }) => idsIn(body))).toEqual(Array.from({ length: 200 }, (_, at) => `r${at + 800}`));
});

test('the wire: one beacon a line, as text/plain', async () => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const received = once(server, 'request').then(async ([request, response]) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(202).end('{}');
    return { type: request.headers['content-type'], method: request.method, ids: idsIn(body) };
  });
  const sender = createSender<Named>(() => {});
  for (const id of ['a', 'b']) sender.add(reporter(id), `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await sender.flush();
  expect(await received).toEqual({ type: 'text/plain;charset=UTF-8', method: 'POST', ids: ['a', 'b'] });
  server.closeAllConnections();
  server.close();
});
