import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { ROOT, readText } from '../docs/markdown.ts';

const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
/** Scripts of our own; the others are programs of npm packages, which have their own help. */
const ours = Object.entries(scripts).flatMap(([name, command]) => {
  const file = /^node --import tsx (\S+\.ts)(?: (.*))?$/.exec(command);
  return file === null ? [] : [{ name, file: file[1]!, fixed: file[2]?.split(' ') ?? [] }];
});

const DEADLINE_MS = 20_000;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(file: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: ROOT,
    // Colours are asked for: help and errors have none all the same.
    env: { ...process.env, FORCE_COLOR: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

test('the scripts are found', () => {
  expect(ours.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['start', 'demo', 'doctor', 'setup', 'dashboards']),
  );
});

describe.each(ours)('npm run $name', ({ name, file, fixed }) => {
  test('--help tells what it does, its options and its exit codes', { timeout: DEADLINE_MS }, async () => {
    const { code, out, err } = await run(file, [...fixed, '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^Usage: npm (run )?${name}\\b`));
    expect(out).toMatch(/^ {2}--help +this text$/m);
    expect(out).toMatch(/^Exit code: .*2 /m);
    expect(out).not.toContain('\x1b');
  });

  test('a wrong option is named, with what was meant, and ends with 2', { timeout: DEADLINE_MS }, async () => {
    const { code, out, err } = await run(file, [...fixed, '--hepl']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('there is no option --hepl; did you mean --help?');
    expect(err).toContain('--help lists what there is');
    expect(err).not.toContain('\x1b');
    // Nor a stack.
    expect(err).not.toMatch(/^ +at /m);
  });
});
