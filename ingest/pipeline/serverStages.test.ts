import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_STAGE_NS, MAX_SUB_STAGES } from '../../contract/limits.ts';
import { SERVER_STAGES, SERVER_TTFT_STAGES, STAGE_ALIASES } from '../../contract/stages.ts';
import { formatTimingTrace, parseTimingTrace } from '../../contract/timingTrace.ts';
import { readServerTimes } from './serverStages.ts';

type Stamps = readonly (string | number)[];
interface ListCase {
  readonly name: string;
  readonly given: Stamps;
  readonly stages_ns: Readonly<Record<string, number | null>>;
  readonly ttft_ns: number | null;
  readonly ttft_basis: string | null;
}
const fixtures: {
  readonly valid_lists: readonly ListCase[];
  readonly invalid_lists: readonly { readonly name: string; readonly given: Stamps; readonly code: string }[];
} = JSON.parse(readFileSync(new URL('../../contract/fixtures/timing-traces.json', import.meta.url), 'utf8'));

describe('stamps as a list', () => {
  test.each(fixtures.valid_lists)('$name', ({ given, stages_ns: stagesNs, ttft_ns: ttftNs, ttft_basis: ttftBasis }) => {
    const read = readServerTimes(given, null, null);
    expect(read).toMatchObject({ ok: true, value: { ttftNs, ttftBasis, stagesNs: { ...stagesNs, queue: null } } });
  });

  test.each(fixtures.invalid_lists)('refused: $name', ({ given, code }) => {
    expect(readServerTimes(given, null, null)).toMatchObject({ ok: false, rejection: { code } });
  });
});

/** Seven rising stamps, some of them not taken. */
const trace = fc
  .tuple(
    fc.bigInt({ min: 1n, max: 2n ** 62n }),
    fc.array(fc.tuple(fc.bigInt({ min: 0n, max: 5_000_000_000n }), fc.boolean()), { minLength: 7, maxLength: 7 }),
  )
  .map(([start, steps]) => {
    let at = start;
    return formatTimingTrace(
      steps.map(([step, isTaken]) => {
        at += step;
        return isTaken ? at : null;
      }),
    );
  })
  .filter((text) => parseTimingTrace(text).ok);

const named = fc
  .array(
    fc.tuple(
      fc.constantFrom(...STAGE_ALIASES.keys(), 'db', 'auth', 'Prefill'),
      fc.option(fc.double({ min: 0, max: 1e7, noNaN: true }), { freq: 9 }),
    ),
    { maxLength: 10 },
  )
  .map((entries) => entries.map(([name, ms]) => (ms === null ? name : `${name};dur=${ms}`)).join(', '));

describe('stamps and Server-Timing together', () => {
  test('the known stages never exceed the server TTFT, and none is negative', () => {
    fc.assert(
      fc.property(fc.option(trace), fc.option(named), (stamps, header) => {
        const read = readServerTimes(stamps, header, null);
        if (!read.ok) throw new Error(read.rejection.message);
        const { stagesNs, ttftNs } = read.value;
        for (const stage of SERVER_STAGES) {
          const ns = stagesNs[stage];
          if (ns === null) continue;
          expect(Number.isSafeInteger(ns), stage).toBe(true);
          expect(ns, stage).toBeGreaterThanOrEqual(0);
          expect(ns, stage).toBeLessThanOrEqual(MAX_STAGE_NS);
        }
        if (ttftNs === null) return;
        const known = SERVER_TTFT_STAGES.reduce((sum, stage) => sum + (stagesNs[stage] ?? 0), 0);
        expect(known).toBeLessThanOrEqual(ttftNs);
      }),
      { numRuns: 500 },
    );
  });

  test('Server-Timing changes no stamped stage but first_token, by the queue; and invents no stage', () => {
    fc.assert(
      fc.property(trace, named, (stamps, header) => {
        const alone = readServerTimes(stamps, null, null);
        const both = readServerTimes(stamps, header, null);
        if (!alone.ok || !both.ok) throw new Error('both are valid');
        expect(both.value).toMatchObject({ ttftNs: alone.value.ttftNs, ttftBasis: alone.value.ttftBasis });
        const claimed = new Set(
          header.split(', ').map((entry) => STAGE_ALIASES.get(entry.split(';')[0]!.toLowerCase())),
        );
        for (const stage of SERVER_STAGES) {
          const before = alone.value.stagesNs[stage];
          const after = both.value.stagesNs[stage];
          if (stage === 'first_token' && before !== null)
            expect(after! + (both.value.stagesNs.queue ?? 0)).toBe(before);
          else if (before !== null) expect(after).toBe(before);
          else if (!claimed.has(stage)) expect(after).toBeNull();
        }
      }),
      { numRuns: 500 },
    );
  });

  test('an overflow is told exactly when something was cut off', () => {
    fc.assert(
      fc.property(trace, fc.nat(10_000), fc.nat(10_000), (stamps, kvMs, sendMs) => {
        const alone = readServerTimes(stamps, null, null);
        const both = readServerTimes(stamps, `kv;dur=${kvMs},send;dur=${sendMs}`, null);
        if (!alone.ok || !both.ok) throw new Error('both are valid');
        const cut = (stage: 'kv_load' | 'send', ms: number) =>
          alone.value.stagesNs[stage] === null && both.value.stagesNs[stage] !== ms * 1e6;
        expect(both.value.stageOverflow).toBe(cut('kv_load', kvMs) || cut('send', sendMs));
      }),
    );
  });
});

describe('sub-stages', () => {
  test('at most sixteen, those of the record first; further durations of a kept one still add up', () => {
    const record = Object.fromEntries(Array.from({ length: MAX_SUB_STAGES - 1 }, (_, index) => [`r${index}`, 1]));
    const read = readServerTimes(null, 'a;dur=1, b;dur=1, r0;dur=1, a;dur=1', record);
    if (!read.ok) throw new Error(read.rejection.message);
    const { subStagesNs } = read.value;
    expect(Object.keys(subStagesNs!)).toHaveLength(MAX_SUB_STAGES);
    expect(subStagesNs).toMatchObject({ a: 2_000_000, r0: 1_000_001 });
    expect(subStagesNs).not.toHaveProperty('b');
  });

  test('names are cleaned, long ones left out, and __proto__ is a name like others', () => {
    const odd = JSON.parse('{"a\\u0000b":1,"\\u0000":2,"__proto__":3}') as Record<string, number>;
    const read = readServerTimes(null, `${'n'.repeat(65)};dur=1`, odd);
    if (!read.ok) throw new Error(read.rejection.message);
    expect(Object.entries(read.value.subStagesNs!)).toEqual([
      ['ab', 1],
      ['__proto__', 3],
    ]);
  });

  test('none is null', () => {
    for (const header of ['', 'miss', 'prefill;dur=1'])
      expect(readServerTimes('1,2,3,4,5,6,7', header, {})).toMatchObject({ value: { subStagesNs: null } });
  });
});

test('an upload named beside stamps whose TTFT begins at t0 is not counted twice', () => {
  const read = readServerTimes('1000000,0,0,0,0,0,9000000', 'receive;dur=3', null);
  expect(read).toMatchObject({
    ok: true,
    value: { ttftBasis: 't0-t6', ttftNs: 8_000_000, stagesNs: { receive: null } },
  });
});
