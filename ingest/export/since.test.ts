import { expect, test } from 'vitest';
import { sinceOf } from './since.ts';

const NOW = Date.UTC(2026, 11, 1, 8);

test.each([
  [['--since', '1h'], NOW - 3_600_000],
  [['--since=30m'], NOW - 1_800_000],
  [['--since', '2d'], NOW - 172_800_000],
  [['--since', '90s'], NOW - 90_000],
  [['--since', '2026-12-01T07:00:00Z'], NOW - 3_600_000],
  [['--since', '2026-12-01T09:30+02:00'], NOW - 1_800_000],
])('%j', (args, sinceMs) => {
  expect(sinceOf(args, NOW)).toBe(sinceMs);
});

test.each([
  [[]],
  [['1h']],
  [['--since']],
  [['--since', '1']],
  [['--since', '1w']],
  [['--since', '-1h']],
  [['--since', '2026-12-01']],
  [['--since', '2026-12-01T07:00:00']],
  [['--since', '2027-01-01T00:00:00Z']],
  [['--since', '1h', 'x']],
  [['--until', '1h']],
  [['--since', '99999d']],
])('%j is refused with what is right', (args) => {
  expect(() => sinceOf(args, NOW)).toThrow(/usage: npm run export-traces -- --since/);
});
