import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { artefacts } from './artefacts.ts';
import { DASHBOARD_FOLDER, PROMETHEUS_RULES_FILE } from './config.ts';
import { staleFiles, writeFiles } from './drift.ts';

test('the committed files are those that are generated', async () => {
  expect(await staleFiles(fileURLToPath(new URL('..', import.meta.url)), artefacts())).toEqual([]);
});

test('changed, missing and left-over files are named, and written or deleted', async () => {
  const root = await mkdtemp(join(tmpdir(), 'firsttoken-artefacts-'));
  try {
    const files = artefacts();
    expect(await staleFiles(root, files)).toEqual([...files.keys()].sort());
    await writeFiles(root, files);
    expect(await staleFiles(root, files)).toEqual([]);

    const leftOver = `${DASHBOARD_FOLDER}/retired.json`;
    await mkdir(join(root, DASHBOARD_FOLDER), { recursive: true });
    await writeFile(join(root, leftOver), '{}');
    await writeFile(join(root, PROMETHEUS_RULES_FILE), 'groups: []\n');
    expect(await staleFiles(root, files)).toEqual([leftOver, PROMETHEUS_RULES_FILE].sort());
    await writeFiles(root, files);
    expect(await staleFiles(root, files)).toEqual([]);
  } finally {
    await rm(root, { recursive: true });
  }
});
