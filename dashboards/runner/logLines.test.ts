import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readLines } from './logLines.ts';

const ID = '7f3c9a1055d24b8e9c012e6fa4b7d813';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-lines-'));
  const ingest = [
    { time: '2026-03-10T12:00:02Z', level: 'warn', service: 'ingest', message: 'a slow request', trace_id: ID },
    { time: '2026-03-10T12:00:03Z', level: 'info', service: 'ingest', message: 'another', trace_id: 'x'.repeat(32) },
  ];
  await writeFile(path.join(folder, 'ingest.log'), ingest.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await writeFile(
    path.join(folder, 'ingest.log.1'),
    `${JSON.stringify({ ...ingest[0], time: '2026-03-10T11:00:00Z' })}\n`,
  );
  await writeFile(
    path.join(folder, 'nginx.access.json.log'),
    `{"time_iso8601":"2026-03-10T12:00:01+00:00","request":"POST /api","trace_id":"${ID}"}\n`,
  );
  await writeFile(path.join(folder, 'plain.log'), `a line of ${ID} that is no JSON\nhalf a line of ${ID}`);
  await writeFile(path.join(folder, 'notes.txt'), ID);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('finds the whole lines of one id in all logs, oldest first, and no other', async () => {
  const lines = await readLines(folder, [ID, ID]);
  expect(lines.map(({ service, text }) => `${service}: ${text}`)).toEqual([
    `plain: a line of ${ID} that is no JSON`,
    'ingest: a slow request',
    'nginx.access.json: POST /api',
    'ingest: a slow request',
  ]);
  expect(lines.map(({ level }) => level)).toEqual(['info', 'warn', 'info', 'warn']);
});

it('finds nothing for no id, or without a folder', async () => {
  expect(await readLines(folder, ['', 'short'])).toEqual([]);
  expect(await readLines(path.join(folder, 'nowhere'), [ID])).toEqual([]);
});
