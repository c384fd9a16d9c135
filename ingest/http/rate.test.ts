import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimit } from './rate.ts';

/** Fifty a second and address: a burst of 200. */
const fifty = () => new RateLimit(50);

describe('a bucket', () => {
  test('lets a burst pass, then as many as the rate says', () => {
    const rate = fifty();
    for (let event = 0; event < 200; event++) expect(rate.take('a', 1, 0, 0)).toBe(0);
    expect(rate.take('a', 1, 0, 0)).toBe(1);
    expect(rate.take('a', 1, 0, 19)).toBe(1);
    expect(rate.take('a', 1, 0, 20)).toBe(0);
    expect(rate.take('a', 50, 0, 1_020)).toBe(0);
    expect(rate.take('a', 1, 0, 1_020)).toBe(1);
  });

  test('never holds more than a burst, however long it rested', () => {
    const rate = fifty();
    expect(rate.take('a', 200, 0, 0)).toBe(0);
    expect(rate.take('a', 200, 0, 1e9)).toBe(0);
    expect(rate.take('a', 1, 0, 1e9)).toBe(1);
  });

  test('what was refused costs nothing', () => {
    const rate = fifty();
    rate.take('a', 200, 0, 0);
    for (let attempt = 0; attempt < 100; attempt++) expect(rate.take('a', 100, 0, 0)).toBe(2);
    expect(rate.take('a', 100, 0, 2_000)).toBe(0);
  });

  test('addresses do not pay for each other', () => {
    const rate = fifty();
    rate.take('a', 200, 0, 0);
    expect(rate.take('b', 200, 0, 0)).toBe(0);
    expect(rate.take('a', 1, 0, 0)).toBe(1);
  });
});

describe('a batch larger than the burst', () => {
  test('passes a full bucket and leaves it in debt, so that the average holds', () => {
    const rate = fifty();
    expect(rate.take('a', 5_000, 0, 0)).toBe(0);
    expect(rate.take('a', 1, 0, 0)).toBe(97);
    expect(rate.take('a', 1, 0, 96_000)).toBe(1);
    expect(rate.take('a', 1, 0, 96_020)).toBe(0);
  });

  test('waits for a full one', () => {
    const rate = fifty();
    rate.take('a', 100, 0, 0);
    expect(rate.take('a', 5_000, 0, 0)).toBe(2);
    expect(rate.take('a', 5_000, 0, 2_000)).toBe(0);
  });

  test('can be sent though its first event was charged before its body was read', () => {
    const rate = fifty();
    expect(rate.take('a', 1, 0, 0)).toBe(0);
    expect(rate.take('a', 4_999, 1, 1)).toBe(0);
    expect(rate.take('b', 1, 0, 0)).toBe(0);
    expect(rate.take('b', 199, 1, 0)).toBe(0);
    expect(rate.take('b', 1, 0, 0)).toBe(1);
  });
});

test('who waits as told may pass', () => {
  const posts = fc.array(fc.tuple(fc.integer({ min: 1, max: 600 }), fc.nat(3_000)), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.constantFrom(1, 3, 7, 50, 1_000), posts, (perSecond, sent) => {
      const rate = new RateLimit(perSecond);
      let nowMs = 0;
      for (const [events, pauseMs] of sent) {
        nowMs += pauseMs;
        const waitSeconds = rate.take('a', events, 0, nowMs);
        expect(Number.isInteger(waitSeconds)).toBe(true);
        if (waitSeconds === 0) continue;
        nowMs += waitSeconds * 1_000;
        expect(rate.take('a', events, 0, nowMs)).toBe(0);
      }
    }),
  );
});

test('over any time no more pass than a burst, one batch and the rate', () => {
  const posts = fc.array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.nat(500)), { maxLength: 60 });
  fc.assert(
    fc.property(posts, (sent) => {
      const rate = fifty();
      let nowMs = 0;
      let passed = 0;
      for (const [events, pauseMs] of sent) {
        nowMs += pauseMs;
        if (rate.take('a', events, 0, nowMs) === 0) passed += events;
        expect(passed).toBeLessThanOrEqual(200 + 300 + (nowMs / 1_000) * 50);
      }
    }),
  );
});

test('0 is no limit', () => {
  const rate = new RateLimit(0);
  for (let post = 0; post < 1_000; post++) expect(rate.take('a', 5_000, 0, 0)).toBe(0);
});

test('only so many addresses are remembered, those seen last', () => {
  const rate = fifty();
  rate.take('often', 200, 0, 0);
  rate.take('once', 200, 0, 0);
  for (let address = 0; address < 99_999; address++) {
    rate.take(`flood-${address}`, 1, 0, 0);
    if (address === 50_000) expect(rate.take('often', 1, 0, 0)).toBe(1);
  }
  expect(rate.take('often', 1, 0, 0)).toBe(1);
  expect(rate.take('once', 1, 0, 0)).toBe(0);
});
