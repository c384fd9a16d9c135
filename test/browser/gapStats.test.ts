import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gapStats } from '../../browser/gapStats.ts';
import { measureStream } from '../../ingest/pipeline/streamMeasures.ts';

const BASE = { v: 1, trace_id: 'x', status: 'complete' } as const;

test('a stream that tells of its gaps is measured as one that lists its arrivals', () => {
  const event = fc.record({ gapMs: fc.integer({ min: 0, max: 2000 }), tokens: fc.integer({ min: 1, max: 60 }) });
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 60 }), fc.boolean(), (events, counted) => {
      let at = 0;
      const arrivals = events.map(({ gapMs }) => {
        at += gapMs;
        return at;
      });
      const tokens = counted ? events.map(({ tokens }) => tokens) : undefined;
      const output_tokens = tokens?.reduce((sum, count) => sum + count) ?? events.length;
      const listed = measureStream({ ...BASE, arrivals_ms: arrivals, chunk_tokens: tokens ?? null, output_tokens });
      const told = measureStream({
        ...BASE,
        ttft_ms: arrivals[0]!,
        gap_stats: gapStats(arrivals, tokens),
        output_tokens,
      });
      for (const [name, value] of Object.entries(listed)) {
        const same = told[name as keyof typeof told];
        if (typeof value === 'number') expect(same, name).toBeCloseTo(value, 6);
        else expect(same, name).toBe(value);
      }
    }),
  );
});
