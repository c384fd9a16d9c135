/** As many bytes as the longest blank line takes: two CRLF. */
const TAIL_CHARACTERS = 4;

/** Remembers how a body ends so far, to tell whether something may be written behind it. */
export class StreamTail {
  /** One character a byte, or of a UTF-8 string; only its line ends matter. */
  #last = '';

  add(chunk: string | Uint8Array, encoding: BufferEncoding): void {
    const text = typeof chunk === 'string' && encoding === 'utf8' ? chunk : lastBytes(chunk, encoding);
    this.#last = (this.#last + text.slice(-TAIL_CHARACTERS)).slice(-TAIL_CHARACTERS);
  }

  /** Whether an event written now would stand alone: nothing has been written yet, or a blank line was the last. */
  get betweenEvents(): boolean {
    return this.#last === '' || this.#last.replace(/\r\n?/g, '\n').endsWith('\n\n');
  }
}

function lastBytes(chunk: string | Uint8Array, encoding: BufferEncoding): string {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
  return Buffer.from(bytes.subarray(-TAIL_CHARACTERS)).toString('latin1');
}
