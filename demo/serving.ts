import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { openLogFile } from '../ingest/logFile.ts';
import type { SenderStats } from '../middleware/node/index.ts';
import { findProgram } from '../setup/findProgram.ts';
import { programNamed } from '../setup/programs.ts';
import { createBackend } from './backend.ts';
import { runAsChild } from './childProcess.ts';
import { createGatewayLog } from './gatewayLog.ts';
import { close, listen } from './listen.ts';
import { startGateway } from './servedGateway.ts';

/** The process that serves the model: backend and gateway, away from the loop that takes the clients' times. */
export interface ServingInput {
  readonly seed: number;
  readonly ingestUrl: string;
  readonly token: string;
  /** Gets their log files. */
  readonly logFolder: string;
}

export interface ServingReady {
  readonly gatewayUrl: string;
  /** Before the path of a request that is to be held back; empty where the gateway itself knows which. */
  readonly collectingPrefix: string;
  /** What the gateway is, in a line. */
  readonly gateway: string;
  /** The chat page to try; null where it could not be built. */
  readonly pageUrl: string | null;
}

/** What became of the middleware's records. */
export type ServingReport = SenderStats;

await runAsChild<ServingInput, ServingReady, ServingReport>(async ({ seed, ingestUrl, token, logFolder }) => {
  mkdirSync(logFolder, { recursive: true });
  const backend = createBackend({ seed, ingestUrl, token, log: openLogFile(path.join(logFolder, 'backend.json.log')) });
  const backendServer = createServer(backend.app);
  const log = createGatewayLog(ingestUrl, token);
  const backendPort = await listen(backendServer);
  const gateway = await startGateway({
    nginx: findProgram(programNamed('nginx')),
    seed,
    ingestUrl,
    backendPort,
    logFolder,
    log,
  });
  const { url: gatewayUrl, collectingPrefix, about, pageUrl } = gateway;
  return {
    ready: { gatewayUrl, collectingPrefix, gateway: about, pageUrl },
    report: () => ({ ...backend.timing.stats }),
    async stop() {
      await gateway.stop();
      await log.close();
      await close(backendServer);
      await backend.timing.close();
    },
  };
});
