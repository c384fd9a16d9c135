import { expect, test } from 'vitest';
import { sinceOf } from './since.ts';

const NOW = Date.UTC(2026, 11, 1, 8);

test.each([
  ['1h', NOW - 3_600_000],
  ['30m', NOW - 1_800_000],
  ['2d', NOW - 172_800_000],
  ['90s', NOW - 90_000],
  ['2026-12-01T07:00:00Z', NOW - 3_600_000],
  ['2026-12-01T09:30+02:00', NOW - 1_800_000],
])('%s', (given, sinceMs) => {
  expect(sinceOf(given, NOW)).toBe(sinceMs);
});

test.each(['', '1', '1w', '-1h', '2026-12-01', '2026-12-01T07:00:00', '2027-01-01T00:00:00Z', '99999d', '--since'])(
  '%j is refused with what is right',
  (given) => {
    expect(() => sinceOf(given, NOW)).toThrow(/how long ago .* or a moment/);
  },
);
