import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { Program } from './programs.ts';

/** Debian keeps servers such as nginx here, which is on root's PATH only; anybody may run them. */
const SERVER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The file of a program that is there and works, else undefined. */
export function findProgram(program: Program, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(path.delimiter), ...SERVER_FOLDERS].filter((folder) => folder !== '');
  for (const name of [program.name, ...(program.alsoNamed ?? [])]) {
    const file = folders.map((folder) => path.join(folder, name)).find(isExecutable);
    if (file !== undefined) return works(file, program) ? file : undefined;
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function works(file: string, { probe }: Program): boolean {
  return probe === undefined || spawnSync(file, probe, { stdio: 'ignore' }).status === 0;
}
