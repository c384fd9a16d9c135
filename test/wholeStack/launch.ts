import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { holdLifeline, onLifeline } from '../../ingest/lifeline.ts';
import { until } from '../postgres/serviceWait.ts';
import { ROOT } from '../stack/composeFile.ts';

const STOP_WITHIN_MS = 15_000;
const READY_WITHIN_MS = 60_000;

export interface Launched {
  /** SIGTERM, as Docker sends it. @returns how it ended */
  stop(): Promise<string>;
}

export interface LaunchOptions {
  readonly name: string;
  readonly command: readonly string[];
  /** All of it: nothing of this process's environment but PATH and HOME is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Holds the log of each program. */
  readonly folder: string;
  /** Throws, or is false, while it is not. Without it, that it runs is enough. */
  readonly ready?: () => Promise<boolean>;
}

/** A part of the stack as a process of its own, which ends with this one however that ends. */
export async function launch({ name, command, env, folder, ready }: LaunchOptions): Promise<Launched> {
  const logFile = path.join(folder, `${name}.out`);
  const log = openSync(logFile, 'a');
  const line = onLifeline(command);
  const child = spawn(line.file, line.args, {
    cwd: ROOT,
    stdio: ['ignore', log, log, 'pipe'],
    detached: true,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
  });
  closeSync(log);
  let how: string | undefined;
  const ended = holdLifeline(child).then((ending) => {
    how = ending;
    return ending;
  });
  const stop = async (): Promise<string> => {
    child.kill('SIGTERM');
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    const ending = await ended;
    clearTimeout(impatience);
    return ending;
  };
  if (ready === undefined) return { stop };
  try {
    await until(`${name} to be ready`, async () => how !== undefined || (await ready()), READY_WITHIN_MS);
    if (how !== undefined) throw new Error(`${name} ended: ${how}`);
  } catch (cause) {
    await stop();
    throw new Error(`${name} did not start:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`, { cause });
  }
  return { stop };
}

/** Whether an address answers 200. */
export async function answers(url: string): Promise<boolean> {
  return (await fetch(url)).ok;
}
