import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';
import { ROOT } from './composeFile.ts';

const run = promisify(execFile);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firsttoken-shipped-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** @throws MissingProgramError with the line that installs it */
function program(name: string): string {
  const found = findProgram(programNamed(name));
  if (found === undefined) throw new MissingProgramError(name);
  return found;
}

test('nginx takes its configuration', async () => {
  await cp(join(ROOT, 'provisioning/nginx'), folder, { recursive: true });
  // Only places: the log, and the process's own files, which a container has to itself.
  for (const file of ['nginx.conf', 'firsttoken-stream.conf']) {
    const text = await readFile(join(folder, file), 'utf8');
    await writeFile(join(folder, file), text.replaceAll(/\/var\/log\/nginx\/|\/tmp\//g, `${folder}/`));
  }
  const { stderr } = await run(program('nginx'), ['-t', '-c', join(folder, 'nginx.conf')]);
  expect(stderr).toContain('test is successful');
  expect(stderr).not.toContain('[warn]');
});

test('Prometheus takes its configuration, with the rules', async () => {
  const { stdout } = await run(program('promtool'), [
    'check',
    'config',
    join(ROOT, 'provisioning/prometheus/prometheus.yml'),
  ]);
  expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
});

test('Alertmanager takes its configuration', async () => {
  const { stdout } = await run(program('amtool'), [
    'check-config',
    join(ROOT, 'provisioning/alertmanager/alertmanager.yml'),
  ]);
  expect(stdout).toContain('SUCCESS');
});
