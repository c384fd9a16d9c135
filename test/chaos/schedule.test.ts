import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DATABASE_TRACK, FAULT_NAMES, REPLICA_TRACK } from './faultNames.ts';
import { planFaults } from './schedule.ts';

const plan = (seed: number, minutes: number, short = false) =>
  planFaults({ seed, forMs: minutes * 60_000, replicas: 2, short, without: new Set() });

test('an equal seed makes an equal schedule, another one another', () => {
  expect(plan(7, 10)).toEqual(plan(7, 10));
  expect(plan(8, 10)).not.toEqual(plan(7, 10));
});

test('ten minutes have every fault at least twice, and one long outage', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const names = plan(seed, 10).map(({ name }) => name);
      for (const name of FAULT_NAMES)
        expect(names.filter((each) => each === name).length).toBeGreaterThanOrEqual(name === 'long-outage' ? 1 : 2);
      expect(names.filter((name) => name === 'long-outage')).toHaveLength(1);
    }),
    { numRuns: 200 },
  );
});

test('a short run has every fault once, but no long outage', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const names = plan(seed, 0.6, true).map(({ name }) => name);
      expect(names.sort()).toEqual(FAULT_NAMES.filter((name) => name !== 'long-outage').sort());
    }),
  );
});

describe('in every schedule', () => {
  test.each([
    [10, false],
    [1, false],
    [0.6, true],
  ])('of %d minutes, short %s: faults of one track follow each other, and all end in time', (minutes, short) => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const planned = plan(seed, minutes, short);
        for (const track of [REPLICA_TRACK, [...DATABASE_TRACK, 'long-outage']]) {
          let endedMs = 0;
          for (const { name, atMs, forMs } of planned) {
            if (!(track as readonly string[]).includes(name)) continue;
            expect(atMs).toBeGreaterThanOrEqual(endedMs);
            endedMs = atMs + forMs;
          }
          expect(endedMs).toBeLessThanOrEqual(minutes * 60_000);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('what is left out does not happen', () => {
    const without = new Set(['clock-jump', 'full-disk'] as const);
    const planned = planFaults({ seed: 7, forMs: 600_000, replicas: 2, short: false, without });
    expect(planned.filter(({ name }) => (without as ReadonlySet<string>).has(name))).toEqual([]);
  });
});
