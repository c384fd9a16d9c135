import { expect, test } from 'vitest';
import { type Figure, ratios, verdictOf } from './figure.ts';
import { tableOf } from './report.ts';

const figure: Figure = {
  id: 'single/express',
  what: 'single events',
  baseline: 'empty handler',
  unit: '×',
  rounds: [2, 3, 2.5],
  goal: { is: 'at least', value: 2.2, aim: 3 },
};

test.each([
  [[2, 3, 2.5], 'reached'],
  [[3, 3.1, 2], 'aim reached'],
  [[2, 2.1, 9], 'missed'],
])('the median %j of a goal of 2.2, aim 3, is %s', (rounds, verdict) => {
  expect(verdictOf({ ...figure, rounds })).toBe(verdict);
});

test('at most counts the other way', () => {
  expect(verdictOf({ ...figure, goal: { is: 'at most', value: 2.5 } })).toBe('reached');
  expect(verdictOf({ ...figure, goal: { is: 'at most', value: 2.4 } })).toBe('missed');
});

test('ratios are of the same round', () => {
  expect(ratios([4, 9], [2, 3])).toEqual([2, 3]);
  expect(() => ratios([1], [])).toThrow(RangeError);
});

test('the table shows median, range, goal, verdict, and an earlier run beside it', () => {
  const earlier = { node: '', cpus: '', startedAt: '', quick: true, load1: [0, 0] as const, broken: [] };
  const line = tableOf([figure], { ...earlier, figures: [{ ...figure, rounds: [1.5] }] }).split('\n')[2]!;
  expect(line.split('|').map((cell) => cell.trim())).toEqual([
    '',
    'single events',
    'empty handler',
    '2.50 ×',
    '2.00–3.00',
    '≥ 2.2, aim 3 ×',
    'reached',
    '1.50 ×',
    '',
  ]);
});
