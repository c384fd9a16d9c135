import { createServer } from 'node:net';

/** A port of loopback that nobody listens on: the usual one, else any. */
export async function freePort(usual: number): Promise<number> {
  return (await listenOn(usual)) ?? (await listenOn(0))!;
}

function listenOn(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}
