import type { RequestAnswer } from '../../contract/request.ts';
import { type Browser, startChromium, type Tab } from '../../demo/chromium/chromium.ts';
import { createGatewayLog } from '../../demo/gatewayLog.ts';
import { followLines } from '../../demo/nginx/followLines.ts';
import { startNginx } from '../../demo/nginx/nginx.ts';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';
import { openService, type RunningService, TOKEN } from '../postgres/service.ts';
import { buildSdk } from './sdkFiles.ts';
import { loadSdk, rowReader } from './stage.ts';

/** What a backend itself saw of one stream that it sent to its end, by its own clock, milliseconds. */
export interface SentStream {
  /** From the completely received request to the first token handed to the network stack. */
  readonly ttftMs: number;
  readonly tpotMs: number;
}

/** A streaming backend with its middleware; all its paths are under `/api/`. */
export interface StagedBackend {
  readonly port: number;
  /** By trace id. */
  sent(): Promise<ReadonlyMap<string, SentStream>>;
  stop(): Promise<void>;
}

/** All that a stream passes on its way to one joined row: browser, nginx, backend, service, and the log on its way there. */
export interface GatewayStage {
  readonly browser: Browser;
  readonly backend: StagedBackend;
  readonly url: string;
  /** A page with the SDK, set to this service. */
  openPage(): Promise<Tab>;
  /** The row of a trace, once it is as `ready` wants it. */
  row(traceId: string, ready: (row: RequestAnswer) => boolean): Promise<RequestAnswer>;
  stop(): Promise<void>;
}

const PAGE = '<!doctype html><title>chat</title><p id="answer"></p>';

/** @param startBackend gets the service's address and token */
export async function startGatewayStage(
  startBackend: (ingestUrl: string, token: string) => Promise<StagedBackend>,
): Promise<GatewayStage> {
  const program = findProgram(programNamed('nginx'));
  if (program === undefined) throw new MissingProgramError('nginx');
  const closers: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const service: RunningService = await openService({ env: { EXPECT_GATEWAY: 'true' } });
    closers.push(() => service.stop());
    const backend = await startBackend(service.publicUrl, TOKEN);
    closers.push(() => backend.stop());
    const files = new Map([
      ['index.html', PAGE],
      ['other.html', PAGE],
    ]);
    for (const [name, text] of await buildSdk()) files.set(name, text);
    const nginx = await startNginx({ program, backendPort: backend.port, files });
    const log = createGatewayLog(service.publicUrl, TOKEN);
    const followed = followLines(nginx.accessLog, log.write);
    closers.push(async () => {
      await nginx.stop();
      await followed.close();
      await log.close();
    });
    const browser = await startChromium();
    closers.push(() => browser.stop());
    return {
      browser,
      backend,
      url: nginx.url,
      async openPage() {
        const tab = await browser.open(`${nginx.url}/index.html`);
        await tab.run(loadSdk(service));
        return tab;
      },
      row: rowReader(service),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** All three halves are there. */
export const isWhole = ({ joined, server, gateway, status }: RequestAnswer): boolean =>
  joined && server?.source === 'direct' && gateway !== null && status !== 'streaming';
