/**
 * What the SDK costs a page's main thread: the same stream of 100 tokens a second, read with it and without it by turns, in CPU time
 * of the thread as Chromium counts it. A figure to look at, not a test: `node --import tsx test/browser/mainThreadCost.ts`
 */

import { startChromium, type Tab } from '../../demo/chromium/chromium.ts';
import { startBackend } from './backend.ts';
import { buildSdk } from './sdkFiles.ts';

const ROUNDS = 9;
const TOKENS = 500;
const GAP_MS = 10;

interface Metrics {
  readonly metrics: readonly { readonly name: string; readonly value: number }[];
}

async function taskSeconds(tab: Tab): Promise<number> {
  const { metrics } = await tab.send<Metrics>('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

/** Share of the main thread's time, in percent. */
async function cost(tab: Tab, fetchName: string): Promise<number> {
  const before = await taskSeconds(tab);
  const wallMs = await tab.run<number>(`(async () => {
    const startedAt = performance.now();
    const response = await ${fetchName}('/chat?prefill=10&tokens=${TOKENS}&gap=${GAP_MS}');
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) document.body.textContent = text;
    return performance.now() - startedAt;
  })()`);
  return (((await taskSeconds(tab)) - before) * 1e5) / wallMs;
}

export interface MainThreadCost {
  /** Shares of the main thread's time without and with the SDK, in percent. */
  readonly plain: number;
  readonly traced: number;
}

/** One cost a round, after a first one that is not counted. @throws MissingProgramError without Chromium */
export async function mainThreadCost(
  rounds: number,
  onRound: (cost: MainThreadCost) => void = () => {},
): Promise<MainThreadCost[]> {
  const backend = await startBackend({ sdk: await buildSdk() });
  try {
    const browser = await startChromium();
    try {
      const tab = await browser.open(`${backend.url}/page`);
      await tab.send('Performance.enable', { timeDomain: 'threadTicks' });
      await tab.run(`(async () => {
        window.sdk = await import('/sdk/index.js');
        sdk.configure({ endpoint: '/nowhere' });
      })()`);
      await cost(tab, 'sdk.tracedFetch');
      await cost(tab, 'fetch');
      const costs: MainThreadCost[] = [];
      for (let round = 0; round < rounds; round++) {
        const plain = await cost(tab, 'fetch');
        const traced = await cost(tab, 'sdk.tracedFetch');
        costs.push({ plain, traced });
        onRound({ plain, traced });
      }
      return costs;
    } finally {
      await browser.stop();
    }
  } finally {
    await backend.stop();
  }
}

if (process.argv[1] === import.meta.filename) {
  const costs = await mainThreadCost(ROUNDS, ({ plain, traced }) =>
    console.log(`main thread: ${plain.toFixed(2)} % without, ${traced.toFixed(2)} % with the SDK`),
  );
  const differences = costs.map(({ plain, traced }) => traced - plain).sort((one, other) => one - other);
  console.log(`the SDK's share, median of ${ROUNDS}: ${differences[ROUNDS >> 1]!.toFixed(2)} %`);
}
