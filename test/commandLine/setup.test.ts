import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROGRAMS } from '../../setup/programs.ts';
import { ROOT } from '../docs/markdown.ts';

/** A PATH on which little is: Debian's tools stand in for themselves and write down what they are asked. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'firsttoken-setup-'));
  for (const tool of ['sh', 'cp', 'env'])
    symlinkSync(spawnSync('which', [tool]).stdout.toString().trim(), path.join(folder, tool));
  place('nothing', 'exit 0');
  place('sudo', 'test "$1" = --version || exec "$@"');
  writeFileSync(path.join(folder, 'asked'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

function place(name: string, script: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(folder, name), 0o755);
}

/** @param install what the stand-in for apt-get does when asked to install */
function setup(install: string, ...args: string[]) {
  place('apt-get', `echo "$*" >> ${folder}/asked\ncase "$1" in install) ${install};; esac`);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'setup/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: folder, HOME: folder },
    encoding: 'utf8',
  });
  return {
    status,
    output: stdout + stderr,
    asked: readFileSync(path.join(folder, 'asked'), 'utf8').trim().split('\n'),
  };
}

const onDebian = spawnSync('sh', ['-c', '. /etc/os-release; echo "$ID $ID_LIKE"']).stdout.toString();
/** Each program becomes a copy of a script that does nothing. */
const INSTALL_ALL = `for name in ${PROGRAMS.map(({ name }) => name).join(' ')}; do cp "\${0%/*}/nothing" "\${0%/*}/$name"; done`;

test.runIf(/debian/.test(onDebian))('installs what is missing, and the second time nothing', () => {
  const first = setup(INSTALL_ALL, '--yes');
  expect(first.output).toContain('Everything is there now.');
  expect(first.status).toBe(0);
  expect(first.asked[0]).toBe('update -q');
  expect(first.asked[1]).toMatch(/^install -q -y --no-install-recommends .*prometheus-alertmanager/);

  const second = setup(INSTALL_ALL, '--yes');
  expect([second.status, second.asked]).toEqual([0, first.asked]);
  expect(second.output).toContain('Everything is there: prometheus');
});

test.runIf(/debian/.test(onDebian))('asks first: without anybody to ask nothing is run', () => {
  expect(setup(INSTALL_ALL)).toMatchObject({
    status: 1,
    asked: [''],
    output: expect.stringContaining('nobody to ask'),
  });
});

test('runs nothing with --dry-run', () => {
  const { status, output, asked } = setup(INSTALL_ALL, '--dry-run');
  expect([status, asked]).toEqual([0, ['']]);
  expect(output).toContain('prometheus-alertmanager  for an alert on its way to a page');
});

test.runIf(/debian/.test(onDebian))('says what failed', () => {
  expect(setup('exit 100', '--yes')).toMatchObject({ status: 1, output: expect.stringContaining('ended with 100') });
  expect(setup('true', '--yes')).toMatchObject({
    status: 1,
    output: expect.stringContaining('Still missing: prometheus'),
  });
});
