import { expect, test } from 'vitest';
import { retryDelayMs } from './retryDelay.ts';

const NOW_MS = Date.parse('2026-12-01T08:00:00Z');

test.each<[number, string | undefined, number, number]>([
  [1, undefined, 250, 500],
  [2, undefined, 500, 1_000],
  [5, undefined, 4_000, 8_000],
  [50, undefined, 15_000, 30_000],
  [5_000, undefined, 15_000, 30_000],
  [1, '0', 0, 250],
  [9, '7', 7_000, 7_250],
  [1, '86400', 300_000, 300_250],
  [1, 'Tue, 01 Dec 2026 08:00:05 GMT', 5_000, 5_250],
  [1, 'Tue, 01 Dec 2026 07:00:00 GMT', 0, 250],
  [1, 'soon', 250, 500],
])('failure %i, Retry-After %s: %i to %i ms', (failures, retryAfter, leastMs, mostMs) => {
  expect(retryDelayMs(failures, retryAfter, NOW_MS, 0)).toBe(leastMs);
  expect(retryDelayMs(failures, retryAfter, NOW_MS, 1)).toBe(mostMs);
});
