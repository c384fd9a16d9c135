import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readOtlpHeaders } from './otlpHeaders.ts';

describe('readOtlpHeaders', () => {
  test.each([
    ['authorization=Bearer%20abc', { authorization: 'Bearer abc' }],
    ['Authorization=Basic dXNlcjpwYXNz==', { authorization: 'Basic dXNlcjpwYXNz==' }],
    [' api-key = k1 , x-scope-orgid = 7 ,', { 'api-key': 'k1', 'x-scope-orgid': '7' }],
    ['a=1,A=2', { a: '2' }],
    ['list=one%2Ctwo%25', { list: 'one,two%' }],
    ['', {}],
  ])('%j', (text, headers) => {
    expect(readOtlpHeaders(text)).toEqual(headers);
  });

  test.each([
    'no-value',
    'a=',
    '=b',
    'a b=c',
    'a=%zz',
    'a=%0d%0aInjected: yes',
    'a=é',
    'content-type=text/plain',
    'Host=x',
  ])('refuses %j', (text) => {
    expect(readOtlpHeaders(text)).toBeNull();
  });

  test('gives back whatever was encoded as the specification says', () => {
    const names = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/).map((name) => `x-${name}`);
    const values = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,40}[\x21-\x7e])?$/);
    fc.assert(
      fc.property(fc.dictionary(names, values), (headers) => {
        const text = Object.entries(headers).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
        expect(readOtlpHeaders(text.join(','))).toEqual({ ...headers });
      }),
    );
  });

  test('never lets through what would end a header', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const [name, value] of Object.entries(readOtlpHeaders(text) ?? {})) {
          expect(`${name}${value}`).not.toMatch(/[\r\n\0]/);
        }
      }),
    );
  });
});
