import { describe, expect, test } from 'vitest';
import { newRow, type RequestRow } from '../pipeline/row.ts';
import { COLUMNS, LISTS, rowChanged } from './columns.ts';

const row = (fields: Partial<RequestRow> = {}): RequestRow => ({
  ...newRow({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', startedAtMs: 1_785_491_532_000 }),
  ...fields,
});

test('a row has exactly the columns, each once, and identity does not change', () => {
  expect([...COLUMNS.map(({ name }) => name), ...LISTS]).toEqual(expect.arrayContaining(Object.keys(row())));
  expect(COLUMNS.length + LISTS.length).toBe(Object.keys(row()).length);
  expect(COLUMNS.filter(({ changes }) => !changes).map(({ name }) => name)).toEqual(['trace_id', 'day', 'started_at']);
  for (const { arrayType } of COLUMNS) expect(arrayType).toMatch(/\[\]$/);
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
