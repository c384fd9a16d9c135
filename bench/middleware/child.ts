import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that answers each message with one. */
export class Child {
  readonly #process: ChildProcess;
  #take: ((message: unknown) => void) | undefined;
  #refuse: ((error: Error) => void) | undefined;

  constructor(script: string, ...args: string[]) {
    this.#process = fork(script, args, { execArgv: script.endsWith('.ts') ? ['--import', 'tsx'] : [] });
    this.#process.on('message', (message) => this.#take?.(message));
    this.#process.on('exit', (code) => this.#refuse?.(new Error(`a process of the benchmark has ended with ${code}`)));
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** The next message; rejects when the process ends instead. */
  next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#take = resolve as (message: unknown) => void;
      this.#refuse = reject;
    });
  }

  ask<T>(message: object): Promise<T> {
    const next = this.next<T>();
    this.#process.send(message);
    return next;
  }

  async stop(): Promise<void> {
    // A signal to the whole group has reached it before.
    if (!this.#process.connected) return;
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}
