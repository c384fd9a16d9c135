import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SmoothingTransform } from './addedDelay.ts';
import { coalesce } from './coalesce.ts';
import { pace, paceMs } from './pace.ts';
import { useFakeClock } from './timedAnswer.ts';

beforeEach(useFakeClock);
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Writes pieces at their times; gives what comes out, with its time. */
async function run(
  transform: SmoothingTransform<string>,
  pieces: readonly (readonly [number, string])[],
  endsAt: number,
) {
  const start = performance.now();
  const writer = transform.writable.getWriter();
  for (const [atMs, piece] of pieces) setTimeout(() => void writer.write(piece), atMs);
  setTimeout(() => void writer.close(), endsAt);
  const out: [number, string][] = [];
  const reading = (async () => {
    for await (const piece of transform.readable) out.push([Math.round(performance.now() - start), piece]);
  })();
  await vi.advanceTimersByTimeAsync(60_000);
  await reading;
  return out;
}

describe('pace', () => {
  test.each([
    [[], 60],
    [[10, 10, 10, 10, 10], 60],
    [[100, 100, 100], 100],
    [[500, 500, 500, 500, 500], 120],
    [[9000, 80, 80, 80, 80, 80], 80],
  ])('after gaps of %j: %i ms', (gaps, expected) => {
    expect(paceMs(gaps)).toBe(expected);
  });

  test('a burst becomes a steady pace; the first piece waits for nothing', async () => {
    const transform = pace<string>();
    const out = await run(
      transform,
      [
        [10, 'a'],
        [11, 'b'],
        [12, 'c'],
        [13, 'd'],
      ],
      20,
    );
    expect(out).toEqual([
      [10, 'a'],
      [70, 'b'],
      [130, 'c'],
      [190, 'd'],
    ]);
    expect(transform.addedDelay).toEqual({ chunks: 4, meanMs: (0 + 59 + 118 + 177) / 4, maxMs: 177 });
  });

  test('a slow stream passes as it comes', async () => {
    const pieces = [
      [10, 'a'],
      [300, 'b'],
      [700, 'c'],
    ] as const;
    const transform = pace<string>();
    expect(await run(transform, pieces, 800)).toEqual(pieces);
    expect(transform.addedDelay.maxMs).toBe(0);
  });

  test('a hidden page gets all at once', async () => {
    vi.stubGlobal('document', { hidden: true });
    const pieces = [
      [10, 'a'],
      [11, 'b'],
      [12, 'c'],
    ] as const;
    expect(await run(pace<string>(), pieces, 20)).toEqual(pieces);
  });

  test('who stops reading leaves no timer', async () => {
    const transform = pace<string>();
    const writer = transform.writable.getWriter();
    for (const piece of ['a', 'b', 'c']) writer.write(piece).catch(() => {});
    const reader = transform.readable.getReader();
    await vi.advanceTimersByTimeAsync(1);
    await reader.read();
    await reader.cancel();
    await vi.advanceTimersByTimeAsync(100);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('coalesce', () => {
  test('the first piece at once, then what came in 150 ms', async () => {
    const transform = coalesce();
    const out = await run(
      transform,
      [
        [10, 'a'],
        [20, 'b'],
        [30, 'c'],
        [170, 'd'],
        [600, 'e'],
      ],
      610,
    );
    expect(out).toEqual([
      [10, 'a'],
      [160, 'bc'],
      [310, 'd'],
      [600, 'e'],
    ]);
    expect(transform.addedDelay).toEqual({ chunks: 5, meanMs: (0 + 140 + 130 + 140 + 0) / 5, maxMs: 140 });
  });

  test('what waits at the end goes with the end', async () => {
    expect(
      await run(
        coalesce(),
        [
          [10, 'a'],
          [20, 'b'],
        ],
        30,
      ),
    ).toEqual([
      [10, 'a'],
      [30, 'b'],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
