import { expect, test } from 'vitest';
import { REJECTION_CODES } from '../../contract/rejections.ts';
import { statusOf } from './answers.ts';

test('every refusal has its status', () => {
  const byStatus = new Map<number, string[]>();
  for (const code of REJECTION_CODES) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  const { 400: wrongInput, ...others } = Object.fromEntries(byStatus);
  expect(others).toEqual({
    401: ['unauthorized'],
    403: ['forbidden_origin'],
    404: ['not_found'],
    405: ['method_not_allowed'],
    413: ['too_large', 'too_many_events'],
    415: ['unsupported_encoding', 'unsupported_media_type'],
    429: ['rate_limited'],
    500: ['internal_error'],
    503: ['overloaded', 'store_unavailable'],
  });
  expect(wrongInput).toContain('malformed_json');
});
