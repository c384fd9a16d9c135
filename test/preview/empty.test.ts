import { afterAll, beforeAll, expect, test } from 'vitest';
import { DASHBOARDS } from '../../dashboards/config.ts';
import { type Browser, startChromium } from '../../demo/chromium/chromium.ts';
import { NO_PROMETHEUS } from '../../preview/answer.ts';
import { type Preview, startPreview } from '../../preview/server.ts';
import { openService, type RunningService } from '../postgres/service.ts';
import { openPage, see } from './eye.ts';

let service: RunningService;
let browser: Browser;
let preview: Preview;
beforeAll(async () => {
  [service, browser] = await Promise.all([openService(), startChromium()]);
  const { databaseUrl } = service;
  preview = await startPreview({ databaseUrl, prometheusUrl: null, logFolder: '/nowhere' });
});
afterAll(async () => {
  await preview?.stop();
  await Promise.all([browser?.stop(), service?.stop()]);
});

test.each(DASHBOARDS)(
  '$title, with nothing stored and no Prometheus: each panel says why it is empty',
  async ({ uid }) => {
    const tab = await openPage(browser, `${preview.url}/d/${uid}`, { width: 1_440, theme: 'light' });
    const { faults, disorder, panels } = await see(tab);
    expect(faults).toEqual([]);
    expect(disorder).toEqual([]);
    for (const { title, says, isFault } of panels) expect(isFault, `${title}: ${says}`).toBe(false);
    const asked = panels.filter(({ says }) => says === NO_PROMETHEUS).length;
    const empty = panels.filter(({ says }) => says !== null).length;
    if (uid === 'ingest-health' || uid === 'stages') expect(asked).toBeGreaterThan(5);
    // Some tables and counts have rows of zeros.
    expect(empty).toBeGreaterThan(panels.length / 2);
    await tab.close();
  },
);

test('a dashboard that is not there is told, with the way to one that is', async () => {
  const tab = await browser.open(`${preview.url}/d/nothing`);
  const text = await tab.run<string>(
    `new Promise((resolve) => { const look = () => document.querySelector('.fault') ? resolve(document.body.innerText) : setTimeout(look, 20); look(); })`,
  );
  expect(text).toContain('There is no such dashboard');
  await tab.close();
});
