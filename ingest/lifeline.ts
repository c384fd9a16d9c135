import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Keeps a program from outliving us, however we end, kill -9 included: a watcher holds the other end of a pipe (descriptor 3), and
 * when that closes without a word it asks the program to stop. The program itself replaces the shell, so that its process id, exit
 * status and signals are ours without a go-between. The watcher is orphaned on purpose: PostgreSQL would take a child that it does
 * not know for a crashed backend.
 */
const LIFELINE = '( ( read -r word <&3 || kill -INT $$ ) >/dev/null 2>&1 & ); exec "$@" 3<&-';

/** What to spawn, with a pipe as descriptor 3, for a command on a lifeline. Windows has no shell for one: there it is the command itself. */
export function onLifeline(command: readonly string[]): { file: string; args: string[] } {
  const [file, ...args] = process.platform === 'win32' ? command : ['/bin/sh', '-c', LIFELINE, 'sh', ...command];
  return { file: file!, args };
}

/** Holds our end. @returns resolves with how the program has ended, its lifeline let go */
export function holdLifeline(child: ChildProcess): Promise<string> {
  const lifeline = child.stdio[3] as Socket;
  lifeline.on('error', () => undefined);
  lifeline.unref();
  const killOnExit = (): void => void child.kill('SIGINT');
  process.once('exit', killOnExit);
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      process.off('exit', killOnExit);
      // The word that lets the watcher go without a kill: the process id may be another's soon.
      lifeline.end('ended\n');
      resolve(signal ? `signal ${signal}` : `exit status ${code}`);
    });
  });
}
