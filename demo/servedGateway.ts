import { rename } from 'node:fs/promises';
import type { Server } from 'node:http';
import path from 'node:path';
import { programNamed } from '../setup/programs.ts';
import { createGateway } from './gateway.ts';
import type { GatewayLog } from './gatewayLog.ts';
import { close, listen } from './listen.ts';
import { followLines } from './nginx/followLines.ts';
import { COLLECTING_PREFIX, startNginx } from './nginx/nginx.ts';
import { buildPage } from './page/pageFiles.ts';

/** The chat page's, when it is free. */
const USUAL_PORT = 8090;
/** A demo of days writes a line for each request. */
const MAX_LOG_BYTES = 16 * 1_048_576;

export interface GatewayOptions {
  /** The installed nginx, if there is one. */
  readonly nginx: string | undefined;
  readonly seed: number;
  readonly ingestUrl: string;
  readonly backendPort: number;
  readonly logFolder: string;
  /** Gets each line of the access log. */
  readonly log: GatewayLog;
}

/** What stands in front of the backend. */
export interface ServedGateway {
  readonly url: string;
  /** Before the path of a request that is to be held back; empty where the gateway itself knows which. */
  readonly collectingPrefix: string;
  /** What it is, in a line. */
  readonly about: string;
  /** The chat page's address; null where it could not be built. */
  readonly pageUrl: string | null;
  stop(): Promise<void>;
}

/** nginx with the shipped configuration where it is installed; else a hop of our own that logs in its form. */
export async function startGateway(options: GatewayOptions): Promise<ServedGateway> {
  if (options.nginx === undefined) return startOwn(options, `nginx is not on the PATH: ${howToInstall()}`);
  try {
    return await startReal(options, options.nginx);
  } catch (error) {
    return startOwn(options, error instanceof Error ? error.message : String(error));
  }
}

function howToInstall(): string {
  const { homebrew, debian } = programNamed('nginx');
  return process.platform === 'darwin' ? `brew install ${homebrew}` : `apt-get install ${debian}`;
}

async function startReal(options: GatewayOptions, program: string): Promise<ServedGateway> {
  const { ingestUrl, backendPort, logFolder, log } = options;
  const page = await buildPage(ingestUrl, COLLECTING_PREFIX);
  const accessLog = path.join(logFolder, 'nginx.access.json.log');
  // Its lines are of an earlier run, and shipped.
  await rename(accessLog, `${accessLog}.1`).catch(() => undefined);
  const nginx = await startNginx({ program, backendPort, accessLog, port: USUAL_PORT, files: page ?? new Map() });
  const followed = followLines(accessLog, log.write, MAX_LOG_BYTES);
  return {
    url: nginx.url,
    collectingPrefix: COLLECTING_PREFIX,
    about: `nginx, with provisioning/nginx/ and its access log in ${accessLog}`,
    pageUrl: page && `${nginx.url}/`,
    async stop() {
      await nginx.stop();
      await followed.close();
    },
  };
}

async function startOwn({ seed, ingestUrl, backendPort, log }: GatewayOptions, why: string): Promise<ServedGateway> {
  const page = await buildPage(ingestUrl, '');
  const server: Server = createGateway(seed, backendPort, log, page ?? undefined);
  const url = `http://127.0.0.1:${await listen(server, USUAL_PORT)}`;
  return {
    url,
    collectingPrefix: '',
    about: `a hop of the demo's own in place of nginx (${why})`,
    pageUrl: page && `${url}/`,
    stop: () => close(server),
  };
}
