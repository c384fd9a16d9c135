import type { IncomingMessage } from 'node:http';
import { gunzip } from 'node:zlib';
import { MAX_BODY_BYTES } from '../../contract/limits.ts';
import { accept, type Result, reject } from '../../contract/rejections.ts';

/**
 * Reads a body, inflating gzip. The limit counts bytes after inflating, and inflating stops there: a small body cannot become a
 * large one in memory. Never rejects.
 *
 * @returns the bytes, or `too_large`, `unsupported_encoding`, `malformed_json` (broken gzip), `request_aborted`
 */
export async function readBody(request: IncomingMessage): Promise<Result<Buffer>> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const gzipped = encoding === 'gzip' || encoding === 'x-gzip';
  if (!gzipped && encoding !== 'identity') return UNSUPPORTED;
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return TOO_LARGE;
  const raw = await collect(request);
  return raw.ok && gzipped ? inflate(raw.value) : raw;
}

/** Whether a request says that it has a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

function collect(request: IncomingMessage): Promise<Result<Buffer>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) resolve(TOO_LARGE);
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(accept(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))));
    request.on('error', () => resolve(ABORTED));
    request.on('close', () => resolve(ABORTED));
  });
}

function inflate(body: Buffer): Promise<Result<Buffer>> {
  return new Promise((resolve) => {
    gunzip(body, { maxOutputLength: MAX_BODY_BYTES }, (error, inflated) => {
      if (error === null) resolve(accept(inflated));
      else resolve((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? TOO_LARGE : BROKEN);
    });
  });
}

const TOO_LARGE = reject(
  'too_large',
  `A body holds at most ${MAX_BODY_BYTES} bytes after inflating; send several posts.`,
);
const UNSUPPORTED = reject('unsupported_encoding', 'Content-Encoding must be gzip or identity.');
const BROKEN = reject('malformed_json', 'The gzip data is broken.');
const ABORTED = reject('request_aborted', 'The connection was closed before the body was complete.');
