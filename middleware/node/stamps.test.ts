import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTimingTrace, parseTimingTrace, STAMPED_STAGES } from '../../contract/timingTrace.ts';
import type { Reading } from './clock.ts';
import { Stamps } from './stamps.ts';

const reading = (ns: bigint): Reading => [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];

test('whatever is stamped, in whatever order, the trace is one that the ingest takes', () => {
  const attempt = fc.tuple(fc.constantFrom(...STAMPED_STAGES), fc.bigInt({ min: 1n, max: 2n ** 60n }));
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 50n }), fc.array(attempt), (startNs, attempts) => {
      const stamps = new Stamps(reading(startNs));
      let accepted = 1;
      for (const [stage, atNs] of attempts)
        if (stamps.end(stage, reading(startNs + (atNs % 3_000_000_000n)))) accepted++;
      const parsed = parseTimingTrace(stamps.toString());
      expect(parsed).toMatchObject({ ok: true, value: { stampCount: accepted } });
    }),
  );
});

test('equal stamps are legal, values beyond 2^53 exact', () => {
  const stamps = new Stamps(reading(9_007_199_254_740_993n));
  expect(stamps.end('receive', reading(9_007_199_254_740_993n))).toBe(true);
  expect(stamps.end('first_token', reading(9_007_199_254_740_994n))).toBe(true);
  expect(stamps.end('preprocess', reading(9_007_199_254_740_994n))).toBe(false);
  expect(stamps.toString()).toBe('9007199254740993,9007199254740993,0,0,9007199254740994,0,0');
});

test('they are written as the contract has it', () => {
  const stamps = new Stamps(reading(5n));
  expect(stamps.toString()).toBe(formatTimingTrace([5n]));
  stamps.end('kv_load', reading(2n ** 60n));
  expect(stamps.toString()).toBe(formatTimingTrace([5n, null, null, 2n ** 60n]));
});

test('a reading is written exactly, whatever its parts', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 60n }), (ns) => {
      expect(new Stamps(reading(ns)).toString()).toBe(formatTimingTrace([ns]));
    }),
  );
});
