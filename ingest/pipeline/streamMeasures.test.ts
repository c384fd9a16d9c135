import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Beacon } from '../../contract/beacon.ts';
import { measureStream } from './streamMeasures.ts';

const beacon = (fields: Partial<Beacon>): Beacon => ({ v: 1, trace_id: 'a'.repeat(32), status: 'complete', ...fields });

/** The same figures by their definitions, token by token and window by window. */
function recount(arrivals: readonly number[], chunks: readonly number[] | null, outputTokens: number | null) {
  const tokens = arrivals.flatMap((atMs, event) => Array<number>(chunks?.[event] ?? 1).fill(atMs));
  const firstMs = arrivals[0]!;
  const firstTokens = chunks?.[0] ?? 1;
  const gaps = arrivals.slice(1).map((atMs, event) => atMs - arrivals[event]!);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = (values: readonly number[]) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
  const windows = gaps.flatMap((_, start) =>
    start + 10 <= gaps.length ? [deviation(gaps.slice(start, start + 10))] : [],
  );
  const total = outputTokens ?? tokens.length;
  const twentiethMs = tokens[19];
  // All tokens that had come with the event that brought the twentieth.
  const then = twentiethMs === undefined ? 0 : countUpTo(arrivals, chunks, 20);
  return {
    tpotMs: total - firstTokens < 1 ? null : (arrivals.at(-1)! - firstMs) / (total - firstTokens),
    gapMaxMs: gaps.length > 0 ? Math.max(...gaps) : null,
    gapMeanMs: gaps.length > 0 ? mean(gaps) : null,
    gapStddevMs: gaps.length > 1 ? deviation(gaps) : null,
    first20MeanMs:
      twentiethMs === undefined || then - firstTokens < 1 ? null : (twentiethMs - firstMs) / (then - firstTokens),
    window10StddevMaxMs: windows.length > 0 ? Math.max(...windows) : null,
    firstScreenMs: tokens[49] ?? null,
    firstTokensUnknown: chunks === null && outputTokens !== null,
  };
}

function countUpTo(arrivals: readonly number[], chunks: readonly number[] | null, least: number): number {
  let tokens = 0;
  for (let event = 0; event < arrivals.length && tokens < least; event++) tokens += chunks?.[event] ?? 1;
  return tokens;
}

const stream = fc
  .array(fc.tuple(fc.oneof(fc.nat(500), fc.double({ min: 0, max: 2_000, noNaN: true })), fc.nat(30)), {
    minLength: 1,
    maxLength: 80,
  })
  .map((events) => {
    let atMs = 0;
    return { arrivals: events.map(([gap]) => (atMs += gap)), chunks: events.map(([, tokens]) => tokens) };
  });

test('equals a recount by the definitions', () => {
  const usage = fc.option(fc.nat(3_000));
  fc.assert(
    fc.property(stream, fc.boolean(), usage, ({ arrivals, chunks }, chunksKnown, outputTokens) => {
      const chunkTokens = chunksKnown ? chunks : null;
      const measured = measureStream(
        beacon({ arrivals_ms: arrivals, chunk_tokens: chunkTokens, output_tokens: outputTokens }),
      );
      const expected = recount(arrivals, chunkTokens, outputTokens);
      for (const [name, value] of Object.entries(expected)) {
        const own = measured[name as keyof typeof measured];
        if (typeof value === 'number') expect(own, name).toBeCloseTo(value, 6);
        else expect(own, name).toBe(value);
      }
    }),
    { numRuns: 300 },
  );
});

test('no figure is negative, infinite or no number', () => {
  fc.assert(
    fc.property(stream, ({ arrivals, chunks }) => {
      const measured = measureStream(beacon({ arrivals_ms: arrivals, chunk_tokens: chunks }));
      for (const [name, value] of Object.entries(measured)) {
        if (typeof value !== 'number') continue;
        expect(Number.isFinite(value), name).toBe(true);
        expect(value, name).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

test('equal gaps a day into a stream have no deviation', () => {
  const arrivals = Array.from({ length: 4_096 }, (_, event) => 80_000_000 + event * 100);
  const measured = measureStream(beacon({ arrivals_ms: arrivals }));
  expect(measured).toMatchObject({ gapStddevMs: 0, window10StddevMaxMs: 0, gapMeanMs: 100, tpotMs: 100 });
});

test('events without a token of their own do not make the first token last', () => {
  const measured = measureStream(beacon({ arrivals_ms: [100, 200], chunk_tokens: [0, 10] }));
  expect(measured.tpotMs).toBe(10);
});
