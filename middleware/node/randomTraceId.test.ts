import { expect, test } from 'vitest';
import { randomTraceId } from './randomTraceId.ts';

test('ids are 32 hex digits, and none comes twice', () => {
  const ids = Array.from({ length: 1_000 }, randomTraceId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});
