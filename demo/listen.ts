import { once } from 'node:events';
import type { Server } from 'node:http';
import { freePort } from '../native/freePort.ts';

/** Streams of clients that have gone end at once; the rest is cut. */
const CLOSE_WITHIN_MS = 2_000;

/** Listens on loopback. @param usual the port that is taken when it is free. @returns the port that it got */
export async function listen(server: Server, usual = 0): Promise<number> {
  server.listen(usual === 0 ? 0 : await freePort(usual), '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address.port;
}

export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const impatience = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
  await closed;
  clearTimeout(impatience);
}
