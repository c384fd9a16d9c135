/** The arguments of `write(chunk[, encoding][, callback])`, `end` the same, `end` with a callback alone too. */
type ChunkArguments = readonly unknown[];

/** What is written; undefined where that is nothing, or nothing that Node would take. */
export function chunkOf([chunk]: ChunkArguments): string | Uint8Array | undefined {
  return (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > 0 ? chunk : undefined;
}

/** UTF-8 where none is given, as Node has it. */
export function encodingOf([, encoding]: ChunkArguments): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
}

/** What is left of the arguments of `end` once their chunk has been written. */
export function endCallbackOf(args: ChunkArguments): unknown[] {
  return args.filter((arg) => typeof arg === 'function');
}
