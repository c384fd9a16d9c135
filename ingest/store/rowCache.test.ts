import { expect, test } from 'vitest';
import { newRow, type RequestRow } from '../pipeline/row.ts';
import { RowCache, xminOf } from './rowCache.ts';

const DAY = '2026-12-01';
const row = (key: string, fields: Partial<RequestRow> = {}): RequestRow => ({
  ...newRow({ traceId: key, startedAtMs: 0 }),
  day: DAY,
  ...fields,
});

test('a row is known as long as the same transaction wrote what stands in the database', () => {
  const cache = new RowCache();
  cache.keep(row('a', { ttft_ms: 5, arrivals_ms: [5, 6], chunk_tokens: [1, 1] }), 7);
  // As one that was read: without its lists.
  expect(cache.find('a', DAY, 7)).toEqual(row('a', { ttft_ms: 5 }));
  expect(cache.find('a', DAY, 8)).toBeUndefined();
  expect(cache.find('a', '2026-12-02', 7)).toBeUndefined();
  expect(cache.find('b', DAY, 7)).toBeUndefined();
  cache.keep(row('a', { ttft_ms: 6 }), 8);
  expect(cache.find('a', DAY, 7)).toBeUndefined();
  expect(cache.find('a', DAY, 8)).toMatchObject({ ttft_ms: 6 });
});

test('settled rows and the oldest are forgotten', () => {
  const cache = new RowCache(2);
  cache.keep(row('a'), 1);
  cache.keep(row('a', { settled: true }), 2);
  expect(cache.find('a', DAY, 1) ?? cache.find('a', DAY, 2)).toBeUndefined();
  for (const key of ['b', 'c', 'b', 'd']) cache.keep(row(key), 3);
  expect(['b', 'c', 'd'].filter((key) => cache.find(key, DAY, 3))).toEqual(['b', 'd']);
});

test("the number that a row shows is the lower half of its transaction's", () => {
  expect(xminOf('743')).toBe(743);
  expect(xminOf(String(2n ** 32n * 5n + 12n))).toBe(12);
  expect(xminOf(String(2n ** 32n - 1n))).toBe(4_294_967_295);
});
