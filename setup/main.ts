import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { runCommand } from '../commandLine/command.ts';
import { findProgram } from './findProgram.ts';
import { planFor } from './plan.ts';
import { PROGRAMS, type Program } from './programs.ts';
import { systemOf } from './system.ts';

const COMMAND = {
  name: 'npm run setup',
  summary: `Installs the programs that the full test suite needs beside Node and npm, on Debian and Ubuntu; says elsewhere what to
install. What is there already is left alone. The service itself needs none of them.`,
  options: {
    yes: { help: 'does not ask (for CI)' },
    'dry-run': { help: 'says what is missing and what would be run, and runs nothing' },
  },
  exitCodes: { 0: 'everything is there, or --dry-run', 1: 'something is missing still' },
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

await runCommand(COMMAND, async ({ yes, 'dry-run': dryRun }) => {
  const missing = findMissing();
  if (missing.length === 0) {
    say(`Everything is there: ${PROGRAMS.map(({ name }) => name).join(', ')}.`);
    return 0;
  }
  say('Missing:');
  const width = Math.max(...missing.map(({ name }) => name.length));
  for (const { name, purpose } of missing) say(`  ${name.padEnd(width)}  for ${purpose}`);

  const { commands, advice } = planFor(systemOf(process.platform, osRelease()), missing, findBecome());
  for (const line of advice) say(line);
  if (commands.length === 0) return dryRun ? 0 : 1;
  say(dryRun ? 'Would run:' : 'To be run:');
  for (const command of commands) say(`  ${command.join(' ')}`);
  if (dryRun) return 0;
  if (!yes && !(await agreed())) return 1;

  // Their own output is the progress.
  for (const [program, ...args] of commands) {
    const { status, error } = spawnSync(program!, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (error !== undefined) throw new Error(`${program} cannot be run`, { cause: error });
    if (status !== 0)
      throw new Error(`${program} ${args.join(' ')} ended with ${status}; what it wrote above says why`);
  }
  const left = findMissing();
  say(left.length === 0 ? 'Everything is there now.' : `Still missing: ${left.map(({ name }) => name).join(', ')}`);
  return left.length === 0 ? 0 : 1;
});

function findMissing(): Program[] {
  return PROGRAMS.filter((program) => findProgram(program) === undefined);
}

function osRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

/** How a command is run as root; null where it cannot be. */
function findBecome(): string[] | null {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['--version'], { stdio: 'ignore' }).status === 0 ? ['sudo'] : null;
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    say('Nothing was installed: there is nobody to ask. With --yes it does not ask.');
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asking.question('Run this now? [y/N] ').finally(() => asking.close());
  return /^y(es)?$/i.test(answer.trim());
}
