import { describe, expect, it } from 'vitest';
import type { Figures } from './figures.ts';
import { faultsOf, joinedShare, percent, type RunResult } from './verdict.ts';

function result(changes: Partial<RunResult> = {}, figures: Partial<Figures> = {}): RunResult {
  const counts = { finals: 1_000, joined: 1_000, direct: 1_000, ...figures } as Figures;
  return { acknowledged: counts.finals, figures: counts, rejected: new Map(), lostBeacons: 0, ...changes };
}

describe('faultsOf', () => {
  it('finds nothing when at least 99 % are joined and none is rejected', () => {
    expect(faultsOf(result())).toEqual([]);
    expect(faultsOf(result({}, { joined: 990 }))).toEqual([]);
  });

  it('says how many are not joined', () => {
    const [fault, ...others] = faultsOf(result({}, { joined: 989 }));
    expect(fault).toContain('only 98.90 %');
    expect(fault).toContain('11 have no server half');
    expect(others).toEqual([]);
  });

  it('misses what was acknowledged and is not in the database', () => {
    expect(faultsOf(result({ acknowledged: 1_003 }))).toEqual([
      '3 of 1003 acknowledged requests are missing in the database',
    ]);
  });

  it('counts rejections and names their reasons', () => {
    const rejected = new Map([
      ['not_monotonic', 2],
      ['server records', 1],
    ]);
    expect(faultsOf(result({ rejected }))).toEqual([
      'the service rejected 3 reports: not_monotonic 2 times, server records 1 times',
    ]);
  });

  it('is not content with nothing', () => {
    expect(faultsOf(result({}, { finals: 0, joined: 0, direct: 0 }))).toHaveLength(1);
    expect(faultsOf(result({ lostBeacons: 4 }))).toEqual(['4 beacons got no answer from the service']);
  });
});

describe('percent', () => {
  it('never rounds up to all', () => {
    expect(percent(0.999_99)).toBe('99.99 %');
    expect(percent(1)).toBe('100.00 %');
    expect(percent(0.07, 0)).toBe('7 %');
    expect(percent(0.29, 0)).toBe('29 %');
  });
});

describe('joinedShare', () => {
  it('is unknown without any request', () => {
    expect(joinedShare({ finals: 0, joined: 0 })).toBeNull();
    expect(joinedShare({ finals: 4, joined: 3 })).toBe(0.75);
  });
});
