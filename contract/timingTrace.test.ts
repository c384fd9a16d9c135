import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_STAGE_NS } from './limits.ts';
import { formatTimingTrace, parseTimingTrace, readStamps, STAMPED_STAGES, STAMPS } from './timingTrace.ts';

interface Valid {
  readonly name: string;
  readonly given: string;
  readonly stages_ns: Readonly<Record<string, number | null>>;
  readonly ttft_ns: number | null;
  readonly ttft_basis: string | null;
  readonly missing: readonly number[];
}

const fixtures: {
  readonly valid: readonly Valid[];
  readonly invalid: readonly { readonly name: string; readonly given: string; readonly code: string }[];
} = JSON.parse(readFileSync(new URL('./fixtures/timing-traces.json', import.meta.url), 'utf8'));

describe('the header', () => {
  test.each(fixtures.valid)(
    '$name',
    ({ given, stages_ns: stagesNs, ttft_ns: ttftNs, ttft_basis: ttftBasis, missing }) => {
      const stampCount = STAMPS - missing.length;
      expect(parseTimingTrace(given)).toEqual({
        ok: true,
        value: { stagesNs, ttftNs, ttftBasis, stampCount, missing },
      });
    },
  );

  test.each(fixtures.invalid)('refused: $name', ({ given, code }) => {
    expect(parseTimingTrace(given)).toMatchObject({ ok: false, rejection: { code } });
  });

  test('any text is read or refused', () => {
    const nearly = fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 4 }), fc.bigInt().map(String)), {
      minLength: 5,
      maxLength: 9,
    });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearly.map(String)), (text) => {
        parseTimingTrace(text);
      }),
    );
  });

  test('a thousand blanks are read in no time', () => {
    const started = performance.now();
    parseTimingTrace(`1${' '.repeat(200_000)}2,3,4,5,6,7,8`);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

/** Rising stamps of which each stage lasts at most an hour, from values that plain numbers hold to 2^63. */
const rising = fc
  .tuple(
    fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 53n + 10n }), fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })),
    fc.array(fc.bigInt({ min: 0n, max: BigInt(MAX_STAGE_NS) }), { minLength: 6, maxLength: 6 }),
  )
  .map(([first, stages]) => {
    const stamps = [first];
    for (const stage of stages) stamps.push(stamps.at(-1)! + stage);
    return stamps;
  });

test('all taken: each stage is exact, and together they are t6 - t0', () => {
  fc.assert(
    fc.property(rising, (stamps) => {
      const read = parseTimingTrace(stamps.join(','));
      if (!read.ok) throw new Error(read.rejection.message);
      const { stagesNs, ttftNs, ttftBasis } = read.value;
      for (const [position, stage] of STAMPED_STAGES.entries())
        expect(stagesNs[stage]).toBe(Number(stamps[position + 1]! - stamps[position]!));
      const sum = STAMPED_STAGES.reduce((total, stage) => total + stagesNs[stage]!, 0);
      expect(sum).toBe(Number(stamps[6]! - stamps[0]!));
      expect(ttftNs).toBe(Number(stamps[6]! - stamps[1]!));
      expect(ttftBasis).toBe('t1-t6');
    }),
  );
});

test('some not taken: what is given is the difference of two taken stamps, and the stages never exceed the TTFT', () => {
  const taken = fc.array(fc.boolean(), { minLength: STAMPS, maxLength: STAMPS });
  fc.assert(
    fc.property(rising, taken, (stamps, isTaken) => {
      const given = stamps.map((stamp, position) => (isTaken[position] ? stamp : 0n));
      const read = readStamps(given.map(String));
      if (!isTaken.includes(true)) {
        expect(read).toMatchObject({ rejection: { code: 'malformed_timing_trace' } });
        return;
      }
      if (!read.ok) throw new Error(read.rejection.message);
      const { stagesNs, ttftNs, ttftBasis, missing, stampCount } = read.value;
      expect(missing).toEqual(given.flatMap((stamp, position) => (stamp === 0n ? [position] : [])));
      expect(stampCount).toBe(STAMPS - missing.length);
      for (const [position, stage] of STAMPED_STAGES.entries()) {
        const known = isTaken[position] && isTaken[position + 1];
        expect(stagesNs[stage]).toBe(known ? Number(given[position + 1]! - given[position]!) : null);
      }
      const ends = /^t([01])-t([456])$/.exec(ttftBasis ?? '');
      expect(ttftNs === null).toBe(ends === null);
      expect(ends !== null).toBe(isTaken.slice(0, 2).includes(true) && isTaken.slice(4).includes(true));
      if (ends === null) return;
      expect(ttftNs).toBe(Number(given[Number(ends[2])]! - given[Number(ends[1])]!));
      const within = STAMPED_STAGES.slice(1).reduce((total, stage) => total + (stagesNs[stage] ?? 0), 0);
      expect(within).toBeLessThanOrEqual(ttftNs!);
    }),
  );
});

test('what is written reads back', () => {
  fc.assert(
    fc.property(rising, fc.array(fc.boolean(), { minLength: STAMPS, maxLength: STAMPS }), (stamps, isTaken) => {
      const written = formatTimingTrace(stamps.map((stamp, position) => (isTaken[position] ? stamp : null)));
      expect(written.split(',').map(BigInt)).toEqual(stamps.map((stamp, position) => (isTaken[position] ? stamp : 0n)));
      expect(parseTimingTrace(written).ok).toBe(isTaken.includes(true));
    }),
  );
  expect(formatTimingTrace([5n])).toBe('5,0,0,0,0,0,0');
});
