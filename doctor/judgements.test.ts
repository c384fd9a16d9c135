import { describe, expect, test } from 'vitest';
import { clockOffMs, verdictOf } from './checks/clock.ts';
import { judgeCoverage } from './checks/coverage.ts';
import { judgeDisk } from './checks/disk.ts';

describe('clockOffMs: what is certain, by a Date of whole seconds', () => {
  test.each([
    [1_000, 1_000, 1_000, 0],
    [1_000, 1_999, 2_100, 0],
    [1_000, 1_500, 9_000, 0],
    [1_000, 2_001, 2_002, -1],
    [5_000, 1_000, 4_900, 100],
    [0, 3_600_000, 3_600_001, -3_599_000],
  ])('%i shown between %i and %i: %i', (shown, asked, answered, off) => {
    expect(clockOffMs(shown, asked, answered)).toBe(off);
  });

  test('five seconds are let pass', () => {
    expect(verdictOf('It', 5_000).verdict).toBe('good');
    expect(verdictOf('It', -5_001)).toMatchObject({ verdict: 'fault', what: "It is 5 s behind this machine's." });
  });
});

describe('judgeCoverage', () => {
  const settled = (client: string, server: string, count: number) =>
    `firsttoken_settled_total{client="${client}",server="${server}"} ${count}`;

  test.each([
    ['too few to judge', [settled('yes', 'none', 9)], 'skipped', /Only 9 requests/],
    ['all joined', [settled('yes', 'direct', 8), settled('yes', 'echo', 2)], 'good', /100 % .*10 of 10/],
    ['at the threshold', [settled('yes', 'direct', 9), settled('yes', 'none', 1)], 'good', /90 %/],
    ['below it', [settled('yes', 'direct', 89), settled('yes', 'none', 11)], 'fault', /89 %/],
  ] as const)('%s', (_, lines, verdict, what) => {
    expect(judgeCoverage(lines.join('\n'))).toMatchObject({ verdict, what: expect.stringMatching(what) });
  });

  test('tells different ids from servers that do not report', () => {
    const clientsOnly = settled('yes', 'none', 20);
    expect(judgeCoverage(clientsOnly).advice).toMatch(/Servers report too little/);
    expect(judgeCoverage(`${clientsOnly}\n${settled('no', 'direct', 19)}`).advice).toMatch(/under different ids/);
  });
});

test('a disk needs a gibibyte and a twentieth of itself free', () => {
  const GIB = 2 ** 30;
  expect(judgeDisk('/data', 2 * GIB, 20 * GIB).verdict).toBe('good');
  expect(judgeDisk('/data', 0.9 * GIB, 2 * GIB)).toMatchObject({
    verdict: 'fault',
    what: expect.stringContaining('0.9 GiB'),
  });
  expect(judgeDisk('/data', 4 * GIB, 100 * GIB)).toMatchObject({
    verdict: 'fault',
    what: expect.stringContaining('4.0 %'),
  });
});
