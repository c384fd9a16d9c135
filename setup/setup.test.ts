import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findProgram } from './findProgram.ts';
import { MissingProgramError } from './missingProgramError.ts';
import { planFor } from './plan.ts';
import { PROGRAMS, programNamed } from './programs.ts';
import { systemOf } from './system.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'firsttoken-setup-'));
afterAll(() => rmSync(folder, { recursive: true }));

function place(name: string, script: string, mode = 0o755): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode });
}

describe('findProgram', () => {
  const PROGRAM = { name: 'ft-one', debian: 'one', homebrew: 'one', purpose: 'a test' };

  test('looks along the PATH, under every name', () => {
    place('ft-uno', 'exit 0');
    expect(findProgram(PROGRAM, { PATH: folder })).toBeUndefined();
    expect(findProgram({ ...PROGRAM, alsoNamed: ['ft-uno'] }, { PATH: `/nowhere:${folder}` })).toBe(
      path.join(folder, 'ft-uno'),
    );
  });

  test('takes no file that cannot be run', () => {
    place('ft-two', 'exit 0', 0o644);
    expect(findProgram({ ...PROGRAM, name: 'ft-two' }, { PATH: folder })).toBeUndefined();
  });

  test('takes no program that fails its probe', () => {
    place('ft-three', 'test "$1" = good');
    expect(findProgram({ ...PROGRAM, name: 'ft-three', probe: ['bad'] }, { PATH: folder })).toBeUndefined();
    expect(findProgram({ ...PROGRAM, name: 'ft-three', probe: ['good'] }, { PATH: folder })).toBeDefined();
  });
});

describe('systemOf', () => {
  test.each([
    ['linux', 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', 'debian', 'Debian GNU/Linux 12 (bookworm)'],
    ['linux', 'ID=ubuntu\nID_LIKE=debian\nPRETTY_NAME="Ubuntu 24.04"\n', 'ubuntu', 'Ubuntu 24.04'],
    ['linux', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'ubuntu', 'linux'],
    ['linux', 'ID=raspbian\nID_LIKE=debian\n', 'debian', 'linux'],
    ['linux', 'ID=fedora\nPRETTY_NAME="Fedora Linux 42"\n', 'other', 'Fedora Linux 42'],
    ['linux', '', 'other', 'linux'],
    ['darwin', '', 'macos', 'macOS'],
    ['win32', '', 'other', 'win32'],
  ] as const)('%s, %j', (platform, osRelease, kind, name) => {
    expect(systemOf(platform, osRelease)).toEqual({ kind, name });
  });
});

describe('planFor', () => {
  const missing = ['prometheus', 'promtool', 'chromium'].map(programNamed);
  const system = (kind: 'debian' | 'ubuntu' | 'macos' | 'other') => ({ kind, name: kind });

  test('installs each Debian package once, by sudo where that is the way', () => {
    const [update, install] = planFor(system('debian'), missing, ['sudo']).commands;
    expect(update).toEqual(['sudo', 'apt-get', 'update', '-q']);
    expect(install!.slice(-2)).toEqual(['prometheus', 'chromium']);
    expect(install![0]).toBe('sudo');
    expect(planFor(system('debian'), missing, []).commands[0]).toEqual(['apt-get', 'update', '-q']);
  });

  test('knows what Ubuntu names differently', () => {
    expect(planFor(system('ubuntu'), missing, []).commands[1]).toContain('chromium-browser');
  });

  test.each([
    ['debian', 'apt-get install prometheus chromium'],
    ['macos', 'brew install --cask chromium'],
    ['other', 'chromium (on Debian in the package chromium)'],
  ] as const)('says on %s what to do where it can do nothing itself', (kind, line) => {
    const { commands, advice } = planFor(system(kind), missing, null);
    expect(commands).toEqual([]);
    expect(advice.join('\n')).toContain(line);
  });
});

test('an error of a test names the package', () => {
  expect(new MissingProgramError('promtool').message).toBe(
    'missing: promtool. On Debian: apt-get install prometheus. All at once, and elsewhere: npm run setup',
  );
  expect(() => new MissingProgramError('emacs')).toThrow('does not list emacs');
});

test('no program is listed twice', () => {
  expect(new Set(PROGRAMS.map(({ name }) => name)).size).toBe(PROGRAMS.length);
});
