import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newRow, type RequestRow } from '../pipeline/row.ts';
import { arrivalParameters } from './arrivals.ts';
import { COLUMNS, type Column, encodeColumn, LISTS, rowChanged } from './columns.ts';

const row = (fields: Partial<RequestRow> = {}): RequestRow => ({
  ...newRow({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', startedAtMs: 1_785_491_532_000 }),
  ...fields,
});
const column = (name: keyof RequestRow): Column => COLUMNS.find((each) => each.name === name)!;
const encode = (name: keyof RequestRow, ...values: unknown[]) =>
  encodeColumn(
    column(name),
    values.map((value) => row({ [name]: value })),
  );

/** Reads a one-dimensional array literal as PostgreSQL's manual describes it. */
function readArray(literal: string): (string | null)[] {
  expect(literal).toMatch(/^\{[\s\S]*\}$/);
  const elements: (string | null)[] = [];
  const element = /(?:"((?:[^"\\]|\\[\s\S])*)"|([^",{}\\\s][^",{}\\]*))(,|$)/y;
  const inner = literal.slice(1, -1);
  while (element.lastIndex < inner.length) {
    const found = element.exec(inner);
    if (found === null) throw new Error(`no array literal: ${literal}`);
    const [, quoted, bare] = found;
    elements.push(quoted === undefined ? (bare === 'NULL' ? null : bare!) : quoted.replace(/\\([\s\S])/g, '$1'));
  }
  return elements;
}

test('a row has exactly the columns, each once, and identity does not change', () => {
  expect([...COLUMNS.map(({ name }) => name), ...LISTS]).toEqual(expect.arrayContaining(Object.keys(row())));
  expect(COLUMNS.length + LISTS.length).toBe(Object.keys(row()).length);
  expect(COLUMNS.filter(({ changes }) => !changes).map(({ name }) => name)).toEqual(['trace_id', 'day', 'started_at']);
  for (const { arrayType } of COLUMNS) expect(arrayType).toMatch(/\[\]$/);
});

describe('array literals', () => {
  test.each<[keyof RequestRow, unknown[], string]>([
    ['seq', [1, null, 0], '{1,NULL,0}'],
    ['seq', [null, null], '{}'],
    ['seq', [], '{}'],
    ['settled', [true, false], '{true,false}'],
    ['server_ttft_ns', [9_007_199_254_740_991], '{9007199254740991}'],
    ['network_ns', [25_200_000_000_000], '{25200000000000}'],
    ['ttft_ms', [412.3, 1e-7, 86_400_000], '{412.3,1e-7,86400000}'],
    ['model', ['llama', null, 'NULL', ''], '{"llama",NULL,"NULL",""}'],
    ['model', ['a"b\\c\nd', '{x},y'], '{"a\\"b\\\\c\nd","{x},y"}'],
    ['status', ['complete', null], '{complete,NULL}'],
    ['connection', ['slow-2g'], '{slow-2g}'],
    ['trace_id', ['4bf92f3577b34da6a3ce929d0e0e4736'], '{4bf92f3577b34da6a3ce929d0e0e4736}'],
    ['started_at', [1_785_491_532_000.5], '{1785491532000.5}'],
    ['sub_stages_ns', [{ 'a"b': 1 }], '{"{\\"a\\\\\\"b\\":1}"}'],
  ])('%s %j', (name, values, literal) => {
    expect(encode(name, ...values)).toBe(literal);
  });

  test.each([
    ['0000000000000001', '1'],
    ['7fffffffffffffff', '9223372036854775807'],
    ['8000000000000000', '-9223372036854775808'],
    ['ffffffffffffffff', '-1'],
    ['00f067aa0ba902b7', '67667974448284343'],
  ])('span %s is the signed number %s', (span, number) => {
    expect(encode('parent_span_id', span)).toBe(`{${number}}`);
  });

  test('any text comes through', () => {
    const text = fc.option(
      fc.string({
        unit: fc.oneof(fc.constantFrom(...'"\\{},\n\t\' N'), fc.string({ unit: 'grapheme', maxLength: 1 })),
      }),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (texts) => {
        const literal = encode('model', ...texts);
        expect(texts.every((each) => each === null) ? [] : texts).toEqual(readArray(literal));
      }),
    );
  });

  test('any sub-stages come through', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.nat()), (subStages) => {
        const [json] = readArray(encode('sub_stages_ns', subStages));
        expect(JSON.parse(json!)).toEqual(subStages);
      }),
    );
  });
});

test('the lists of those rows that bring any, in one array each', () => {
  const key = '4bf92f3577b34da6a3ce929d0e0e4736';
  const rows = [
    row({ arrivals_ms: [412.3, 1e-60], chunk_tokens: [1, 4] }),
    row(),
    row({ day: '2026-12-01', arrivals_ms: [] }),
  ];
  expect(arrivalParameters(rows)).toEqual([
    `{${key},${key}}`,
    '{NULL,2026-12-01}',
    '{"{412.3,0}","{}"}',
    '{"{1,4}",NULL}',
  ]);
  expect(arrivalParameters([row()])).toBeNull();
});

describe('whether a row changed', () => {
  test('in any column', () => {
    const before = row();
    for (const { name } of COLUMNS) expect(rowChanged(before, { ...before, [name]: 'new' }), name).toBe(true);
    expect(rowChanged(before, { ...before })).toBe(false);
  });

  test('the lists, which come only with a new seq, are not compared', () => {
    for (const name of LISTS) expect(rowChanged(row(), row({ [name]: [1] }))).toBe(false);
  });

  test('sub-stages are compared by what they say', () => {
    expect(rowChanged(row({ sub_stages_ns: { db: 1 } }), row({ sub_stages_ns: { db: 1 } }))).toBe(false);
    expect(rowChanged(row({ sub_stages_ns: { db: 1 } }), row({ sub_stages_ns: { db: 2 } }))).toBe(true);
  });
});
