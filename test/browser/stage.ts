import type { RequestAnswer } from '../../contract/request.ts';
import { type Browser, startChromium, type Tab } from '../../demo/chromium/chromium.ts';
import { openService, type RunningService, TOKEN } from '../postgres/service.ts';
import { until } from '../postgres/serviceWait.ts';
import { type Backend, startBackend } from './backend.ts';
import { buildSdk } from './sdkFiles.ts';

/** Everything a stream passes: a browser, a backend with the middleware, the service, a PostgreSQL. */
export interface Stage {
  readonly browser: Browser;
  readonly backend: Backend;
  readonly service: RunningService;
  /** A page with the SDK, set to this service. */
  openPage(): Promise<Tab>;
  /** The row of a trace, once it is as `ready` wants it. */
  row(traceId: string, ready: (row: RequestAnswer) => boolean): Promise<RequestAnswer>;
  stop(): Promise<void>;
}

/** Loads the SDK and sets it up; `window.sdk` then has it, and `window.ids` the ids of the beacons it made. */
export function loadSdk(service: RunningService): string {
  return `(async () => {
    window.sdk = await import('/sdk/index.js');
    window.beacons = [];
    sdk.configure({
      endpoint: ${JSON.stringify(`${service.publicUrl}/v1/beacons`)},
      onBeacon: (beacon) => beacons.push(beacon),
    });
  })()`;
}

export async function startStage(): Promise<Stage> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const service = await openService();
    closers.push(() => service.stop());
    const backend = await startBackend({ sdk: await buildSdk(), ingestUrl: service.publicUrl, token: TOKEN });
    closers.push(() => backend.stop());
    const browser = await startChromium();
    closers.push(() => browser.stop());
    return {
      browser,
      backend,
      service,
      async openPage() {
        const tab = await browser.open(`${backend.url}/page`);
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

/** Reads the row of a trace, once it is as `ready` wants it. */
export function rowReader(service: RunningService): Stage['row'] {
  return (traceId, ready) =>
    until(`the row of ${traceId} is ready`, async () => {
      const { status, json } = await service.read(traceId);
      return status === 200 && ready(json) ? (json as RequestAnswer) : undefined;
    });
}
