import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ChildMessage, INPUT_VARIABLE, STOP_MESSAGE } from './childProcess.ts';

/** Lines of its output that are kept, to show why a child failed. */
const KEPT_LINES = 30;

/** Within it a child has flushed and stopped what it started; after it, its processes are ended. Milliseconds. */
const STOP_WITHIN_MS = 12_000;

export class ChildError extends Error {
  override readonly name = 'ChildError';
}

export interface RunningChild<Ready, Report> {
  readonly ready: Ready;
  /** The latest of its reports; undefined before the first. */
  report(): Report | undefined;
  /** Resolves when the process has gone, with how it ended and the last lines it wrote. */
  readonly ended: Promise<string>;
  /** Asks it to stop, and returns when it has gone. */
  stop(withinMs?: number): Promise<void>;
}

/**
 * Starts a file of this folder in a process of its own and waits until it is ready. Its own session keeps a Ctrl-C in the terminal
 * from reaching it: the parent decides when it stops.
 *
 * @param input what its `runAsChild` is given, as JSON
 * @param signal stops it while it starts
 * @throws ChildError with what the child said, when it fails or ends before it is ready
 */
export async function startChild<Ready, Report = never>(
  file: string,
  input: unknown,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<RunningChild<Ready, Report>> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...env, [INPUT_VARIABLE]: JSON.stringify(input) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: process.platform !== 'win32',
  });
  const lines = keepLastLines(child);
  let failure = '';
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, killedBy) => {
      const how = killedBy ? `ended by ${killedBy}` : `ended with exit code ${code}`;
      resolve([`${file} ${how}`, failure, ...lines].filter((line) => line !== '').join('\n'));
    });
  });
  const stop = async (withinMs = STOP_WITHIN_MS): Promise<void> => {
    // Not `disconnect`, after which Node 20 tells nobody that the child has closed.
    if (child.connected) child.send(STOP_MESSAGE);
    const impatience = setTimeout(() => child.kill('SIGKILL'), withinMs);
    await ended;
    clearTimeout(impatience);
  };
  let latest: Report | undefined;
  const aborted = (): void => void stop();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    const ready = await new Promise<Ready>((resolve, reject) => {
      child.on('message', (message: ChildMessage<Ready, Report>) => {
        if ('report' in message) latest = message.report;
        else if ('ready' in message) resolve(message.ready);
        else {
          failure = message.failed;
          reject(new ChildError(failure));
        }
      });
      void ended.then((how) => reject(new ChildError(how)));
    });
    return { ready, report: () => latest, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', aborted);
  }
}

function keepLastLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    let rest = '';
    output?.setEncoding('utf8').on('data', (text: string) => {
      const complete = (rest + text).split('\n');
      rest = complete.pop() ?? '';
      lines.push(...complete.filter((line) => line !== ''));
      lines.splice(0, lines.length - KEPT_LINES);
    });
  }
  return lines;
}
