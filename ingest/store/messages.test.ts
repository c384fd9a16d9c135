import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Messages, UnstorableValueError } from './messages.ts';

const written = (write: (out: Messages) => void): string => {
  const out = new Messages();
  write(out);
  return out.written().toString('hex');
};

test('messages carry their own length', () => {
  expect(written((out) => out.sync())).toBe('5300000004');
  expect(written((out) => out.parse('a', 'BEGIN'))).toBe('500000000e6100424547494e000000');
  const run = written((out) => {
    out.bind('a', 1);
    out.float8Parameter(1);
    out.execute();
  });
  // B, length, no portal, statement, one format for all parameters: binary, one parameter; then E, length, no portal, all rows.
  expect(run).toBe('420000001b0061000001000100010000000' + '83ff00000000000000000' + '450000000900' + '00000000');
});

describe('elements', () => {
  test.each<[string, (out: Messages) => void, string]>([
    ['null', (out) => out.null(), 'ffffffff'],
    ['boolean', (out) => out.boolean(true), '0000000101'],
    ['smallint', (out) => out.int2(-1), '00000002ffff'],
    ['integer', (out) => out.int4(-2_147_483_648), '0000000480000000'],
    ['bigint', (out) => out.int8(9_007_199_254_740_991), '00000008001fffffffffffff'],
    ['bigint below zero', (out) => out.int8(-1), '00000008ffffffffffffffff'],
    ['double precision', (out) => out.float8(0.1), '000000083fb999999999999a'],
    ['real, rounded', (out) => out.float4(0.1), '000000043dcccccd'],
    ['real, too small for one', (out) => out.float4(1e-60), '0000000400000000'],
    ['zero, without its sign', (out) => out.float8(-0), '000000080000000000000000'],
    ['zero as a real', (out) => out.float4(-0), '0000000400000000'],
    ['date', (out) => out.date('2000-01-02'), '0000000400000001'],
    ['date before 2000', (out) => out.date('1999-12-31'), '00000004ffffffff'],
    ['hex', (out) => out.hex('00f067aa0ba902b7'), '0000000800f067aa0ba902b7'],
    ['text', (out) => out.text('é'), '00000002c3a9'],
    ['no text', (out) => out.text(''), '00000000'],
  ])('%s', (_, write, hex) => {
    expect(written(write)).toBe(hex);
  });

  test.each<[string, (out: Messages) => void]>([
    ['smallint', (out) => out.int2(32_768)],
    ['smallint', (out) => out.int2(0.5)],
    ['integer', (out) => out.int4(2 ** 31)],
    ['bigint', (out) => out.int8(2 ** 53)],
    ['bigint', (out) => out.int8(0.5)],
  ])('what is no %s is not cut to one', (_, write) => {
    expect(() => written(write)).toThrow(UnstorableValueError);
  });

  test('any text is its UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const bytes = Buffer.from(text);
        const length = Buffer.alloc(4);
        length.writeInt32BE(bytes.length);
        expect(written((out) => out.text(text))).toBe(length.toString('hex') + bytes.toString('hex'));
      }),
    );
  });
});

describe('arrays', () => {
  test('one dimension from 1, with its elements', () => {
    const array = written((out) => {
      out.beginArray(21);
      out.int2(7);
      out.null();
      out.endArray(2, true);
    });
    expect(array).toBe(
      '0000001e' + '00000001' + '00000001' + '00000015' + '00000002' + '00000001' + '000000020007' + 'ffffffff',
    );
  });

  test('without elements they have no dimension', () => {
    const array = written((out) => {
      out.beginArray(21);
      out.endArray(0, false);
    });
    expect(array).toBe('0000000c' + '00000000' + '00000000' + '00000015');
  });
});

test('the bytes grow as they must, and are used again', () => {
  const out = new Messages();
  const long = 'x'.repeat(5_000_000);
  out.text(long);
  expect(out.written().length).toBe(5_000_004);
  out.clear();
  expect(out.written().length).toBe(0);
  out.text('again');
  expect(out.written().toString('latin1', 4)).toBe('again');
});
