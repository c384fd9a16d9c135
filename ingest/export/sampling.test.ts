import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSampled } from './sampling.ts';

const IDS = Array.from({ length: 20_000 }, () => randomBytes(16).toString('hex'));

test('1 is all, 0 is none, and a larger share holds every smaller one', () => {
  for (const id of IDS.slice(0, 500)) {
    expect([isSampled(id, 1), isSampled(id, 0)]).toEqual([true, false]);
    if (isSampled(id, 0.1)) expect(isSampled(id, 0.5)).toBe(true);
  }
});

test.each([0.01, 0.25, 0.9])('%d is about its share', (rate) => {
  const share = IDS.filter((id) => isSampled(id, rate)).length / IDS.length;
  expect(Math.abs(share - rate)).toBeLessThan(6 * Math.sqrt((rate * (1 - rate)) / IDS.length));
});

test('only the last 56 bits decide, as in every consistent sampler', () => {
  expect(isSampled(`${'0'.repeat(18)}80000000000000`, 0.5)).toBe(true);
  expect(isSampled(`${'f'.repeat(18)}7ffffffffffff0`, 0.5)).toBe(false);
});
