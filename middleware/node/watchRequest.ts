import type { IncomingMessage } from 'node:http';
import type { Stamps } from './stamps.ts';

const RECEIVING = Symbol('firsttoken.receiving');
interface Receiving extends IncomingMessage {
  [RECEIVING]: { readonly stamps: Stamps; readonly push: IncomingMessage['push'] };
}

function pushStamped(this: Receiving, chunk: unknown, encoding?: BufferEncoding): boolean {
  const { stamps, push } = this[RECEIVING];
  if (chunk === null) stamps.end('receive');
  return push.call(this, chunk, encoding);
}

/**
 * Takes t1 when the last byte of the request has arrived from the network: at once for a request without a body. The body is not
 * touched; a part of it that nobody reads, and so holds the connection back, never arrives.
 */
export function watchRequest(req: IncomingMessage, stamps: Stamps): void {
  const length = req.headers['content-length'];
  const hasBody = req.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
  if (!hasBody || req.complete) {
    stamps.end('receive');
    return;
  }
  // 'end' would come only when the app has read everything; the parser says the end by pushing null.
  const receiving = req as Receiving;
  receiving[RECEIVING] = { stamps, push: req.push };
  receiving.push = pushStamped;
}
