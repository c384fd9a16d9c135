import type { IncomingMessage } from 'node:http';

/**
 * Calls `onReceived` once when the last byte of the request has arrived from the network: at once for a request without a body.
 * The body is not touched; a part of it that nobody reads, and so holds the connection back, never arrives.
 */
export function watchRequest(req: IncomingMessage, onReceived: () => void): void {
  const length = req.headers['content-length'];
  const hasBody = req.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
  if (!hasBody || req.complete) {
    onReceived();
    return;
  }
  // 'end' would come only when the app has read everything; the parser says the end by pushing null.
  const { push } = req;
  req.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null) onReceived();
    return push.call(req, chunk, encoding);
  };
}
