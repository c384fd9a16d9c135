import { expect, test } from 'vitest';
import { CLIENT_FLAG_BITS, FLAG_BITS, FLAGS, flagsOf } from './flags.ts';

test('each flag has one bit of its own, and all fit into a smallint', () => {
  const bits = Object.values(FLAG_BITS);
  for (const bit of bits) expect(Math.log2(bit) % 1).toBe(0);
  expect(new Set(bits).size).toBe(bits.length);
  expect(Math.max(...bits)).toBeLessThan(2 ** 15);
});

test('names of bits', () => {
  expect(flagsOf(0)).toEqual([]);
  expect(flagsOf(FLAG_BITS.clock_anomaly | FLAG_BITS.coalesced)).toEqual(['coalesced', 'clock_anomaly']);
  expect(flagsOf(FLAGS.reduce((all, flag) => all | FLAG_BITS[flag], 0))).toEqual(FLAGS);
  expect(flagsOf(CLIENT_FLAG_BITS)).toEqual(['coalesced', 'suspended', 'hidden', 'first_tokens_unknown']);
});
