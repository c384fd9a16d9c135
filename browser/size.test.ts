import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { buildEntries, buildSingleFile } from './build.ts';

const MAIN_BYTES = 3_000;

const gzipped = new Map<string, number>();
const texts = new Map<string, string>();

beforeAll(async () => {
  for (const { outputFiles } of [await buildEntries({ write: false }), await buildSingleFile({ write: false })]) {
    for (const { path: file, contents, text } of outputFiles ?? []) {
      gzipped.set(path.basename(file), gzipSync(contents, { level: 9 }).length);
      texts.set(path.basename(file), text);
    }
  }
});

test('the main entry, with one preset, is at most 3 kB', () => {
  expect(gzipped.get('index.js')).toBeLessThanOrEqual(MAIN_BYTES);
});

test('and loads nothing but, later, the half that reports, which loads nothing', () => {
  const imported = (file: string) =>
    [...texts.get(file)!.matchAll(/\b(?:import|from)\s*\(?"([^"]+)"/g)].map(([, name]) => name);
  expect(imported('index.js')).toEqual(['./reporting.js']);
  expect(imported('reporting.js')).toEqual([]);
  expect(imported('event-source.js')).toEqual(['./index.js']);
  expect(imported('firsttoken.js')).toEqual([]);
});

test.each([
  ['reporting.js', 3_000],
  ['firsttoken.js', 7_500],
])('%s is at most %i bytes', (file, bytes) => {
  expect(gzipped.get(file)).toBeLessThanOrEqual(bytes);
});
