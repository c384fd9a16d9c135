import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const WORDS = ['check', 'json', 'since', 'rate', 'dry-run', 'help'];

test.each([
  ['chek', 'check'],
  ['chekc', 'check'],
  ['sinse', 'since'],
  ['dryrun', 'dry-run'],
  ['js', 'json'],
  ['Json', 'json'],
  ['verbose', undefined],
  ['x', undefined],
])('%s: %s', (given, meant) => expect(nearest(given, WORDS)).toBe(meant));

test('a word is nearest to itself, and no input makes it fail', () => {
  fc.assert(fc.property(fc.constantFrom(...WORDS), (word) => nearest(word, WORDS) === word));
  fc.assert(fc.property(fc.string(), (text) => [undefined, ...WORDS].includes(nearest(text, WORDS))));
});
