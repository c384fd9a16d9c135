import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../setup/findProgram.ts';
import { programNamed } from '../setup/programs.ts';
import { type Browser, startChromium } from './chromium/chromium.ts';

const FINISH_WITHIN_MS = 20_000;

export interface BrowserTraffic {
  /** Lets the page read its answer to the end and report it. Resolves with the answers that it has read; null without a page. */
  finish(): Promise<number | null>;
  stop(): Promise<void>;
}

/**
 * A headless Chromium in which the chat page asks again and again: the browser SDK where it belongs. It starts beside the other clients; where
 * there is none, or it does not start, they go on without it.
 *
 * @param profile a folder for it, which goes with it
 * @param say told in a line what became of it
 */
export function startBrowserTraffic(pageUrl: string, profile: string, say: (line: string) => void): BrowserTraffic {
  const chromium = programNamed('chromium');
  if (findProgram(chromium) === undefined) {
    const install =
      process.platform === 'darwin' ? `brew install ${chromium.homebrew}` : `apt-get install ${chromium.debian}`;
    say(`chromium is not on the PATH, so no real page asks: ${install}`);
    return { finish: async () => null, stop: async () => {} };
  }
  let stopped = false;
  let browser: Browser | undefined;
  const started = (async () => {
    browser = await startChromium(profile);
    if (stopped) return null;
    const tab = await browser.open(pageUrl);
    await tab.run('startAsking()');
    say('chromium: the chat page asks there, measured by the browser SDK');
    return tab;
  })().catch((error: unknown) => {
    if (!stopped) say(`chromium was not started: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  });
  return {
    async finish() {
      const tab = await started;
      const late = new AbortController();
      const read = tab?.run<number>('finish()').catch(() => null) ?? null;
      const result = await Promise.race([read, wait(FINISH_WITHIN_MS, null, { signal: late.signal })]);
      late.abort();
      return result;
    },
    async stop() {
      stopped = true;
      // What is being loaded fails then, and is waited for.
      await browser?.stop();
      await started;
      await browser?.stop();
    },
  };
}
