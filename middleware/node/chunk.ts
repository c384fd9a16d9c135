/** Whether something is written: an empty chunk, a callback in its place, or what Node will refuse, is nothing. */
export function isFilled(chunk: unknown): chunk is string | Uint8Array {
  return (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > 0;
}

/** UTF-8 where none is given, or a callback in its place, as Node has it. */
export function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
}
