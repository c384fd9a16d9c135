import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { SenderStats } from '../middleware/node/index.ts';
import { createBackend } from './backend.ts';
import { runAsChild } from './childProcess.ts';
import { createGateway } from './gateway.ts';
import { createGatewayLog } from './gatewayLog.ts';

/** The process that serves the model: backend and gateway, away from the loop that takes the clients' times. */
export interface ServingInput {
  readonly seed: number;
  readonly ingestUrl: string;
  readonly token: string;
}

export interface ServingReady {
  readonly gatewayUrl: string;
}

/** What became of the middleware's records. */
export type ServingReport = SenderStats;

/** Streams of clients that have gone end at once; the rest is cut. */
const CLOSE_WITHIN_MS = 2_000;

await runAsChild<ServingInput, ServingReady, ServingReport>(async (input) => {
  const backend = createBackend(input);
  const backendServer = createServer(backend.app);
  const gatewayLog = createGatewayLog(input.ingestUrl, input.token);
  const gateway = createGateway(input.seed, await listen(backendServer), gatewayLog);
  const gatewayUrl = `http://127.0.0.1:${await listen(gateway)}`;
  return {
    ready: { gatewayUrl },
    report: () => ({ ...backend.timing.stats }),
    async stop() {
      await close(gateway);
      await gatewayLog.close();
      await close(backendServer);
      await backend.timing.close();
    },
  };
});

/** @returns the free port of loopback that was found */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address.port;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const impatience = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
  await closed;
  clearTimeout(impatience);
}
