import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { holdLifeline, onLifeline } from '../ingest/lifeline.ts';

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 5_000;
const POLL_EVERY_MS = 50;
const ASK_WITHIN_MS = 2_000;

export interface NativeProgram {
  /** Without a slash at the end. */
  readonly url: string;
  /** Ends it; resolves when it is gone. May be called twice. */
  stop(): Promise<void>;
}

export interface NativeProgramOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Gets what it says. */
  readonly logFile: string;
  readonly url: string;
  /** Answers 200 when it is ready. */
  readonly readyPath: string;
}

/**
 * Starts a program that stands on the PATH and waits until it answers. It has a session of its own, so that a Ctrl-C in the terminal is
 * its parent's to take, and ends when this process does, however that ends.
 *
 * @throws Error with the place of its log when it ends or is not ready in time
 */
export async function startProgram(options: NativeProgramOptions): Promise<NativeProgram> {
  const { file, args, env, logFile, url, readyPath } = options;
  mkdirSync(path.dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'a');
  const command = onLifeline([file, ...args]);
  const child = spawn(command.file, command.args, {
    stdio: ['ignore', log, log, 'pipe'],
    detached: process.platform !== 'win32',
    env: { ...process.env, ...env },
  });
  closeSync(log);
  const ended = Promise.race([holdLifeline(child), once(child, 'error')]);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= end(child, ended);
    return stopping;
  };

  const giveUpAt = performance.now() + READY_WITHIN_MS;
  while (!(await isReady(url + readyPath))) {
    const over = await Promise.race([ended.then(() => true), wait(POLL_EVERY_MS, false)]);
    if (!over && performance.now() < giveUpAt) continue;
    await stop();
    throw new Error(`${path.basename(file)} ${over ? 'ended' : 'was not ready in time'}; it says why in ${logFile}`);
  }
  return { url, stop };
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(impatience);
}

function isReady(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) }).then(
    (answer) => answer.ok,
    () => false,
  );
}
