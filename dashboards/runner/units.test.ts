import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { format } from './units.ts';

describe('format', () => {
  it.each([
    [0.412, 's', '412 ms'],
    [1.234, 's', '1.23 s'],
    [0.0000123, 's', '12.3 µs'],
    [150, 's', '2.5 min'],
    [0, 's', '0 ms'],
    [867, 'ms', '867 ms'],
    [1_234, 'ms', '1.23 s'],
    [-12.5, 'ms', '−12.5 ms'],
    [0.247, 'percentunit', '24.7 %'],
    [99.5, 'percent', '99.5 %'],
    [1_536, 'bytes', '1.5 KiB'],
    [0, 'bytes', '0 B'],
    [12_345, 'short', '12.3 K'],
    [1_234, 'short', '1,234'],
    [12.34, 'reqps', '12.3 req/s'],
    [7, 'none', '7'],
    [Number.NaN, 's', '–'],
    [Number.POSITIVE_INFINITY, 's', '∞'],
  ])('%s of %s: %s', (value, unit, text) => expect(format(value, unit)).toBe(text));

  it('keeps to the decimals it is given', () => {
    expect(format(0.9, 'percentunit', 0)).toBe('90 %');
    expect(format(1.5, 'ms', 1)).toBe('1.5 ms');
  });

  it('has at most three significant digits behind the leading ones, and never "-0"', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
        fc.constantFrom('s', 'ms', 'short', 'bytes'),
        (value, unit) => {
          expect(format(value, unit)).toMatch(/^−?[\d,]+(\.\d{1,2})?( \S+)?$/);
          expect(format(value, unit)).not.toMatch(/^−0( |$)/);
        },
      ),
    );
  });
});
