import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTimingTrace, parseTimingTrace, STAMPED_STAGES } from '../../contract/timingTrace.ts';
import { Stamps } from './stamps.ts';

test('whatever is stamped, in whatever order, the trace is one that the ingest takes', () => {
  const attempt = fc.tuple(fc.constantFrom(...STAMPED_STAGES), fc.bigInt({ min: 1n, max: 2n ** 60n }));
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 50n }), fc.array(attempt), (startNs, attempts) => {
      const stamps = new Stamps(startNs);
      let accepted = 1;
      for (const [stage, atNs] of attempts) if (stamps.end(stage, startNs + (atNs % 1_000n))) accepted++;
      const parsed = parseTimingTrace(stamps.toString());
      expect(parsed).toMatchObject({ ok: true, value: { stampCount: accepted } });
    }),
  );
});

test('equal stamps are legal, values beyond 2^53 exact', () => {
  const stamps = new Stamps(9_007_199_254_740_993n);
  expect(stamps.end('receive', 9_007_199_254_740_993n)).toBe(true);
  expect(stamps.end('first_token', 9_007_199_254_740_994n)).toBe(true);
  expect(stamps.end('preprocess', 9_007_199_254_740_994n)).toBe(false);
  expect(stamps.toString()).toBe('9007199254740993,9007199254740993,0,0,9007199254740994,0,0');
});

test('they are written as the contract has it', () => {
  const stamps = new Stamps(5n);
  expect(stamps.toString()).toBe(formatTimingTrace([5n]));
  stamps.end('kv_load', 2n ** 60n);
  expect(stamps.toString()).toBe(formatTimingTrace([5n, null, null, 2n ** 60n]));
});
