import fc from 'fast-check';
import { expect, test } from 'vitest';
import { givenTraceId, isSampled, randomHex } from './traceIdentity.ts';

test('ids are hex, and do not repeat', () => {
  const ids = Array.from({ length: 1000 }, () => randomHex(32));
  expect(ids.every((id) => /^[\da-f]{32}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(1000);
});

test('the trace id decides what is sampled, in the share that was asked for', () => {
  const ids = Array.from({ length: 20_000 }, () => randomHex(32));
  const share = ids.filter((id) => isSampled(id, 0.25)).length / ids.length;
  expect(share).toBeGreaterThan(0.23);
  expect(share).toBeLessThan(0.27);
  expect(ids.every((id) => isSampled(id, 1) && isSampled(id) && !isSampled(id, 0))).toBe(true);
});

test('who is sampled at a rate is so at every higher one', () => {
  const hex = fc.stringMatching(/^[\da-f]{32}$/);
  fc.assert(
    fc.property(
      hex,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (id, a, b) => {
        if (isSampled(id, Math.min(a, b))) expect(isSampled(id, Math.max(a, b))).toBe(true);
        expect(isSampled(`ffff${id.slice(4)}`, a)).toBe(isSampled(id, a));
      },
    ),
  );
});

test('an id of a foreign form is always sampled', () => {
  expect(isSampled('chatcmpl-abc123', 0.001)).toBe(true);
});

test.each([
  [{ 'X-Trace-ID': 'any', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }, 'any'],
  [{ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }, 'a'.repeat(32)],
  [{ traceparent: `00-${'A'.repeat(32)}-${'b'.repeat(16)}-01` }, undefined],
  [{ traceparent: 'nonsense' }, undefined],
  [{}, undefined],
])('%j names %s', (headers, id) => {
  expect(givenTraceId(new Headers(headers as Record<string, string>))).toBe(id);
});
