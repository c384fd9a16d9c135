import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLogFile } from './logFile.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-log-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a grown file is put aside once, and nothing of it is lost', async () => {
  const file = path.join(folder, 'a.log');
  const write = openLogFile(file, 40);
  for (let number = 0; number < 8; number += 1) write(`line ${number} 北\n`);
  const [older, newer] = await Promise.all([readFile(`${file}.1`, 'utf8'), readFile(file, 'utf8')]);
  expect(`${older}${newer}`).toBe(
    [2, 3, 4, 5, 6, 7]
      .map((number) => `line ${number} 北\n`)
      .join('')
      .slice(-`${older}${newer}`.length),
  );
  for (const text of [older, newer]) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(40);
  expect(newer.endsWith('line 7 北\n')).toBe(true);
});

test('what stands there already stays and counts', async () => {
  const file = path.join(folder, 'a.log');
  openLogFile(file, 20)('one\n');
  openLogFile(file, 20)('two\n');
  expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
  openLogFile(file, 10)('three\n');
  expect(await readFile(file, 'utf8')).toBe('three\n');
  expect(await readFile(`${file}.1`, 'utf8')).toBe('one\ntwo\n');
});

test('a folder that is not there is told at the start', () => {
  expect(() => openLogFile(path.join(folder, 'none', 'a.log'))).toThrow(/ENOENT/);
});
