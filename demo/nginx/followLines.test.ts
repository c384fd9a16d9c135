import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followLines } from './followLines.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-follow-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('lines come whole, once and in order, whatever the writes are', async () => {
  const file = path.join(folder, 'access.log');
  const lines: string[] = [];
  let onThree: (() => void) | undefined;
  const three = new Promise<void>((resolve) => {
    onThree = resolve;
  });
  const followed = followLines(file, (line) => {
    lines.push(line);
    if (lines.length === 3) onThree?.();
  });
  const bytes = Buffer.from('{"a":1}\n{"b":"\u5317"}\n');
  await appendFile(file, bytes.subarray(0, 15));
  await appendFile(file, bytes.subarray(15));
  await appendFile(file, `${'x'.repeat(200_000)}\nhalf`);
  await three;
  await followed.close();
  expect(lines).toEqual(['{"a":1}', '{"b":"\u5317"}', 'x'.repeat(200_000)]);
});

test('what was written last is read on closing; a file that never comes has no lines', async () => {
  const file = path.join(folder, 'access.log');
  const lines: string[] = [];
  const followed = followLines(file, (line) => lines.push(line));
  await appendFile(file, 'one\n');
  await followed.close();
  expect(lines).toEqual(['one']);
  await followLines(path.join(folder, 'none'), (line) => lines.push(line)).close();
  expect(lines).toEqual(['one']);
});

test('a file that has grown is put aside and begun anew', async () => {
  const file = path.join(folder, 'access.log');
  const lines: string[] = [];
  const followed = followLines(file, (line) => lines.push(line), 50);
  const first = `${'a'.repeat(30)}\n${'b'.repeat(30)}\n`;
  await appendFile(file, first);
  await vi.waitFor(async () => expect((await stat(file)).size).toBe(0), { timeout: 5_000 });
  await appendFile(file, 'short\n');
  await followed.close();
  expect(lines).toEqual(['a'.repeat(30), 'b'.repeat(30), 'short']);
  expect(await readFile(`${file}.1`, 'utf8')).toBe(first);
  expect(await readFile(file, 'utf8')).toBe('short\n');
});
