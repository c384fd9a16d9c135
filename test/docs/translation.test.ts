import { describe, expect, test } from 'vitest';
import { fencesOf, linksOf, readText, withoutFences } from './markdown.ts';

const english = readText('README.md');
const chinese = readText('README.zh-CN.md');

/** The link to the other language is the one that differs. */
const links = (text: string) => linksOf(text).filter((link) => !/^README/.test(link));
const headings = (text: string) => [...withoutFences(text).matchAll(/^(#+) /gm)].map(([, level]) => level);
const codeWords = (text: string) => [...withoutFences(text).matchAll(/`[^`\n]+`/g)].map(([word]) => word).sort();
const items = (text: string) => [...withoutFences(text).matchAll(/^- \*\*/gm)].length;

describe('README.zh-CN.md says what README.md says', () => {
  test('under the same headings', () => expect(headings(chinese)).toEqual(headings(english)));
  test('with the same code', () => expect(fencesOf(chinese)).toEqual(fencesOf(english)));
  test('with the same links, in the same order', () => expect(links(chinese)).toEqual(links(english)));
  test('with the same names of commands, figures and files', () =>
    expect(codeWords(chinese)).toEqual(codeWords(english)));
  test('in as many points', () => expect(items(chinese)).toBe(items(english)));
});

test('each leads to the other', () => {
  expect(linksOf(english)).toContain('README.zh-CN.md');
  expect(linksOf(chinese)).toContain('README.md');
});
