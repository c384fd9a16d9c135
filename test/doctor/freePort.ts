import { once } from 'node:events';
import net from 'node:net';

/** A port of loopback on which nothing listens now: for programs that cannot be given 0, and for addresses that must not answer. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
