import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleanText } from './text.ts';

test.each([
  [null, null],
  [undefined, null],
  ['', null],
  ['\0\0', null],
  ['a\0b', 'ab'],
  ['a\ud800b', 'a\ufffdb'],
  ['\udc00', '\ufffd'],
  ['\u{1F30D}', '\u{1F30D}'],
  [' a ', ' a '],
])('%j becomes %j', (given, cleaned) => {
  expect(cleanText(given)).toBe(cleaned);
});

test('what is clean stays, and what comes out is clean', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const cleaned = cleanText(text);
      if (cleaned === null) return;
      expect(cleaned.includes('\0')).toBe(false);
      expect(cleaned.isWellFormed()).toBe(true);
      expect(cleanText(cleaned)).toBe(cleaned);
    }),
  );
});
