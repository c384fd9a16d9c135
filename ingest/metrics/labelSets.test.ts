import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { METRICS } from '../../contract/metrics.ts';
import { LabelSets } from './labelSets.ts';

function settledSets(maxLabelSets: number) {
  let overflows = 0;
  const sets = new LabelSets({
    definition: METRICS.settled,
    maxLabelSets,
    create: (labels) => ({ labels, found: 0 }),
    onOverflow: () => {
      overflows += 1;
    },
  });
  const find = (...values: string[]) => {
    sets.find(values).found += 1;
  };
  return { sets, find, overflows: () => overflows };
}

test('different values are different series, whatever they contain', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('', ',', '"', 'a,b', 'a', 'b,c', '\u0000', '\u001f', '\\', '\n'));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 30 }), (pairs) => {
      const { sets, find } = settledSets(1_000);
      for (const [client, server] of pairs) find(client, server);
      const distinct = new Set(pairs.map((pair) => JSON.stringify(pair))).size;
      expect(sets.all).toHaveLength(distinct);
      expect(new Set(sets.all.map(({ labels }) => labels)).size).toBe(distinct);
    }),
  );
});

test('values that would print alike are one series', () => {
  const { sets, find } = settledSets(10);
  find('\ud800', 'yes');
  find('\udc00', 'yes');
  find('\ufffd', 'yes');
  expect(sets.all).toEqual([{ labels: 'client="\ufffd",server="yes"', found: 3 }]);
});

describe('the cap', () => {
  test('holds in a flood, with `other` among the sets; no sample is lost and each fold is told', () => {
    const { sets, find, overflows } = settledSets(5);
    for (let index = 0; index < 1_000; index += 1) find(`flood-${index}`, 'yes');
    expect(sets.all).toHaveLength(5);
    expect(sets.all.at(-1)).toEqual({ labels: 'client="other",server="other"', found: 996 });
    expect(overflows()).toBe(996);
  });

  test('leaves the sets that came first alone', () => {
    const { sets, find } = settledSets(3);
    for (const client of ['a', 'b', 'c', 'd', 'a', 'b']) find(client, 'yes');
    expect(sets.all.map(({ found }) => found)).toEqual([2, 2, 2]);
  });

  test('does not count what is named `other` as folded', () => {
    const { sets, find, overflows } = settledSets(1);
    find('other', 'other');
    expect(overflows()).toBe(0);
    find('a', 'yes');
    expect(sets.all).toHaveLength(1);
    expect(overflows()).toBe(1);
  });

  test.each([0, -1, 1.5, Number.NaN])('%d is refused', (cap) => {
    expect(() => settledSets(cap)).toThrow(RangeError);
  });
});
