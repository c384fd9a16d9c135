import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseServerTiming, type ServerTimingEntry } from './serverTiming.ts';

const { cases }: { readonly cases: readonly { name: string; given: string; entries: ServerTimingEntry[] }[] } =
  JSON.parse(readFileSync(new URL('./fixtures/server-timings.json', import.meta.url), 'utf8'));

test.each(cases)('$name: $given', ({ given, entries }) => {
  expect(parseServerTiming(given)).toEqual(entries);
});

test('any text is read', () => {
  const odd = fc.string({ unit: fc.constantFrom(...'ab1.;,=" \\\t\u00e9', ';dur=', ';desc="', '"') });
  fc.assert(
    fc.property(fc.oneof(odd, fc.string({ unit: 'binary' })), (header) => {
      for (const { name, dur, measured } of parseServerTiming(header)) {
        expect(name).toMatch(/^\S+$/);
        expect(Number.isFinite(dur)).toBe(true);
        if (measured) expect(dur).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

test('what is written by the rules reads back, wherever blanks stand', () => {
  const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019!#$&+-.^_`|~*'), minLength: 1, maxLength: 8 });
  const blank = fc.constantFrom('', ' ', '\t', '  ');
  const entry = fc.record({
    name: token,
    dur: fc.double({ min: 0, max: 1e9, noNaN: true }).map((ms) => ms + 0),
    desc: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), blank, blank, (entries, before, after) => {
      const header = entries
        .map(({ name, dur, desc }) => {
          const quoted = desc.replace(/["\\]/g, '\\$&');
          return `${name}${before};${after}dur${before}=${after}${dur}${after};desc="${quoted}"${before}`;
        })
        .join(`${before},${after}`);
      expect(parseServerTiming(header)).toEqual(entries.map((each) => ({ ...each, measured: true })));
    }),
  );
});

test.each(['"', '\\"', '=', ';', ',', 'a', ' ', 'a;', 'a;desc="', 'a;desc="\\"', 'a,', 'a;b=c', 'a;dur=1 '])(
  'a long run of %j is read in linear time',
  (piece) => {
    const started = performance.now();
    parseServerTiming(`a;desc="${piece.repeat(200_000)}`);
    parseServerTiming(piece.repeat(200_000));
    // Quadratic work on it would take minutes.
    expect(performance.now() - started).toBeLessThan(3_000);
  },
);
