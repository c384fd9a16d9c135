import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, runCommand } from '../../commandLine/command.ts';
import { showWaiting } from '../../commandLine/waiting.ts';
import { DASHBOARDS } from '../../dashboards/config.ts';
import { type Browser, startChromium } from '../../demo/chromium/chromium.ts';
import { openPage, photograph, settled } from './eye.ts';
import { startDemo } from './runningDemo.ts';

const FOLDER = path.join(import.meta.dirname, '../../docs/images');
/** So much traffic is worth a picture. */
const TRAFFIC_MS = 170_000;
const RATE_PER_SECOND = 10;
/** Fills the hours of the day. */
const HISTORY = '26h';
/** Pages on hours have them all. */
const FROM: Readonly<Record<string, string>> = { 'where-and-when': 'now-24h' };
const WIDTH = 1_440;
/** What a picture in a document may be high; the rest of a page is for those who open it. */
const MAX_HEIGHT = 1_360;

const COMMAND: Command<Record<string, never>> = {
  name: 'npm run screenshots',
  summary: `Runs the demo, a day of history before it, for three minutes and photographs each dashboard of the preview into docs/images. Needs Chromium and Prometheus:
npm run setup.`,
  options: {},
  exitCodes: { 0: 'written', 1: 'something is missing, or did not start' },
};

await runCommand(COMMAND, async () => {
  const demo = await startDemo(RATE_PER_SECOND, '--backfill', HISTORY);
  let browser: Browser | undefined;
  const waiting = showWaiting('letting traffic pass');
  try {
    await wait(TRAFFIC_MS);
    waiting.end();
    browser = await startChromium();
    const address = (uid: string, more = '', from = 'now-3m'): string =>
      `${demo.previewUrl}/d/${uid}?from=${from}&to=now${more}`;
    const slow = await openPage(browser, address('slow-requests'), { width: WIDTH, theme: 'light' });
    const request = new URL(await slow.run<string>(`document.querySelector('td a[href*="trace_id="]').href`));
    await slow.close();
    const id = `&var-trace_id=${request.searchParams.get('var-trace_id')}`;
    for (const { uid } of DASHBOARDS) {
      const tab = await openPage(browser, address(uid, uid === 'request' ? id : '', FROM[uid]), {
        width: WIDTH,
        theme: 'light',
      });
      const height = Math.min(MAX_HEIGHT, await tab.run<number>('document.documentElement.scrollHeight'));
      await tab.send('Emulation.setDeviceMetricsOverride', {
        width: WIDTH,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await settled(tab);
      await writeFile(path.join(FOLDER, `${uid}.png`), await photograph(tab));
      process.stdout.write(`docs/images/${uid}.png\n`);
      await tab.close();
    }
    return 0;
  } finally {
    waiting.end();
    await browser?.stop();
    await demo.stop();
  }
});
