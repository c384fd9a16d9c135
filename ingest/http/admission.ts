import type { IncomingMessage } from 'node:http';
import { MAX_BODY_BYTES } from '../../contract/limits.ts';

/** How much larger than its gzip a body of ours usually is; the real limit is checked while inflating. */
const INFLATES_BY = 12;

/**
 * Bounds the bytes of bodies that are under way at once, from the first byte read to the answer. What exceeds it is refused before
 * anything of it is read: a quick refusal is cheap, and memory then depends on the bound and not on the number of senders.
 */
export class Admission {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are under way now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns the bytes to {@link leave} with, or null: refuse. A body larger than the whole bound passes when it is alone. */
  enter(request: IncomingMessage): number | null {
    const bytes = expectedBytes(request);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) return null;
    this.#bytes += bytes;
    return bytes;
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
  }
}

function expectedBytes(request: IncomingMessage): number {
  const { 'content-length': length, 'content-encoding': encoding, 'transfer-encoding': transfer } = request.headers;
  // A body of unknown length may be as long as any.
  if (length === undefined) return transfer === undefined ? 0 : MAX_BODY_BYTES;
  const bytes = encoding === undefined ? Number(length) : Number(length) * INFLATES_BY;
  return Math.min(bytes, MAX_BODY_BYTES);
}
