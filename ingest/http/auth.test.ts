import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createTokenCheck } from './auth.ts';

const withHeader = (authorization?: string): IncomingMessage =>
  ({ headers: authorization === undefined ? {} : { authorization } }) as IncomingMessage;

describe('write tokens', () => {
  const check = createTokenCheck(['first-token', 'second/token+==']);

  test.each(['Bearer first-token', 'Bearer second/token+==', 'bearer first-token', 'BEARER   first-token'])(
    '%j passes',
    (header) => {
      expect(check(withHeader(header))).toBe(true);
    },
  );

  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'first-token',
    'Basic first-token',
    'Bearer first-toke',
    'Bearer first-token2',
    'Bearer FIRST-TOKEN',
    'Bearer first-token second/token+==',
    'Bearer first-token,second/token+==',
    'Bearer first-token ',
    'xBearer first-token',
    'Bearer wrong-token',
    `Bearer ${'x'.repeat(100_000)}`,
  ])('%j does not', (header) => {
    expect(check(withHeader(header))).toBe(false);
  });

  test('the place of a token in the list changes nothing', () => {
    for (const tokens of [
      ['a-secret', 'b-secret', 'c-secret'],
      ['c-secret', 'a-secret', 'b-secret'],
    ]) {
      const anyPlace = createTokenCheck(tokens);
      for (const token of tokens) expect(anyPlace(withHeader(`Bearer ${token}`))).toBe(true);
      expect(anyPlace(withHeader('Bearer d-secret'))).toBe(false);
    }
  });
});

test('without tokens everything passes', () => {
  const check = createTokenCheck([]);
  for (const header of [undefined, 'Bearer whatever', 'nonsense']) expect(check(withHeader(header))).toBe(true);
});
