import type { Readable, Writable } from 'node:stream';

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The DevTools protocol over a pipe: JSON messages, each ended by a NUL. */
export class DevTools {
  readonly #input: Writable;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #rest = '';

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    // What the browser no longer reads, it no longer answers either.
    input.on('error', (error) => this.fail(error));
    output.setEncoding('utf8').on('data', (text: string) => this.#read(text));
  }

  /** @throws Error with the browser's message */
  send<T = Record<string, never>>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = ++this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Nothing will be answered any more. */
  fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #read(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop()!;
    for (const message of messages) {
      const { id, result, error } = JSON.parse(message);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(error.message));
      else waiting?.resolve(result as never);
    }
  }
}
