import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DASHBOARDS, FIRST_TOKEN, INGEST_JOB, PROMETHEUS_RULES_FILE } from '../../dashboards/config.ts';
import { type Browser, startChromium, type Tab } from '../../demo/chromium/chromium.ts';
import { NO_PROMETHEUS } from '../../preview/answer.ts';
import { type Preview, startPreview } from '../../preview/server.ts';
import { until } from '../postgres/serviceWait.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/prometheus.ts';
import { readText } from '../stack/composeFile.ts';
import { click, clickOn, openPage, press, type Seen, type SeenPanel, see, settled } from './eye.ts';
import { type RunningDemo, startDemo } from './runningDemo.ts';

const WIDE = { width: 1_440, theme: 'light' } as const;
const RANGE = '?from=now-15m&to=now';
/** A chart's axes alone have less. */
const LEAST_INK = 1_500;
const HEADLINES = ['Client TTFT p95 by hour, region and device', 'TTFT against TPOT', 'Why the ten slowest were late'];
const FROM_PROMETHEUS = 'TTFT over time';
/** What a backend without a GPU or an engine's own metrics, and a run of minutes without an experiment, cannot show. */
const NOTHING_IN_A_DEMO = /no data|none|no such request|No request with this id|No log of this machine/;

let demo: RunningDemo;
let browser: Browser;
beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemo(20), startChromium()]);
});
afterAll(async () => {
  await browser?.stop();
  await demo?.stop();
});

const panelOf = ({ panels }: Seen, title: string): SeenPanel => panels.find((panel) => panel.title === title)!;
const isDrawn = ({ kind, says, ink }: SeenPanel): boolean => says === null && ink > (kind === 'table' ? 0 : LEAST_INK);

test('within a minute of the start the three headline pictures are drawn from live traffic', async () => {
  const tab = await openPage(browser, `${demo.previewUrl}/${RANGE}`, WIDE);
  await until(
    'the three pictures',
    async () => {
      const seen = await see(tab);
      return [...HEADLINES, FROM_PROMETHEUS].every((title) => isDrawn(panelOf(seen, title)));
    },
    60_000 - demo.ageMs(),
  );
  await tab.close();
});

test('a machine without Prometheus has the three pictures as well', async () => {
  const { databaseUrl, logFolder } = demo;
  const preview = await startPreview({ databaseUrl, logFolder, prometheusUrl: null });
  const tab = await openPage(browser, `${preview.url}/${RANGE}`, WIDE);
  const seen = await see(tab);
  expect(HEADLINES.filter((title) => !isDrawn(panelOf(seen, title)))).toEqual([]);
  expect(panelOf(seen, FROM_PROMETHEUS).says).toBe(NO_PROMETHEUS);
  await tab.close();
  await preview.stop();
});

describe.each(DASHBOARDS)('$title', ({ uid }) => {
  const looks =
    uid === FIRST_TOKEN.uid || uid === 'slow-requests' || uid === 'request'
      ? [WIDE, { width: 390, theme: 'light' } as const, { width: 1_440, theme: 'dark' } as const]
      : [WIDE];
  test.each(looks)('at $width px, $theme: in order, without an error, every panel drawn', async (window) => {
    const request = uid === 'request' ? `&var-trace_id=${await someRequest()}` : '';
    const tab = await openPage(browser, `${demo.previewUrl}/d/${uid}${RANGE}${request}`, window);
    const { faults, disorder, panels } = await see(tab);
    expect(faults).toEqual([]);
    expect(disorder).toEqual([]);
    expect(panels.length).toBeGreaterThan(0);
    for (const { title, says, isFault, ink } of panels) {
      expect(isFault, `${title}: ${says}`).toBe(false);
      if (says === null) expect(ink, title).toBeGreaterThan(0);
      else expect(says, title).toMatch(NOTHING_IN_A_DEMO);
    }
    const shown = panels.filter(({ says }) => says === null).length;
    if (uid !== 'gpu-backend') expect(shown).toBeGreaterThan(panels.length / 2);
    await tab.close();
  });
});

/** A finished request, by way of the page itself. */
async function someRequest(): Promise<string> {
  const tab = await openPage(browser, `${demo.previewUrl}/d/slow-requests${RANGE}`, WIDE);
  const link = await until('a slow request', () =>
    tab.run<string>(`document.querySelector('td a[href*="trace_id="]')?.href`),
  );
  await tab.close();
  return new URL(link).searchParams.get('var-trace_id')!;
}

const pathOf = (tab: Tab): Promise<string> => tab.run<string>('location.pathname + location.search');

describe('from a picture to a request', () => {
  test.each([
    ['a bar of the waterfall', 'Why the ten slowest were late'],
    ['a point of the scatter', 'TTFT against TPOT'],
  ])('by keyboard: %s', async (_, title) => {
    const tab = await openPage(browser, `${demo.previewUrl}/d/slow-requests${RANGE}`, WIDE);
    await tab.run(`document.querySelector('[aria-label^=${JSON.stringify(title)}].chart').focus()`);
    await press(tab, 'ArrowRight');
    const said = await tab.run<string>('document.activeElement.nextSibling.textContent');
    expect(said).toMatch(/\d (µs|ms|s)/);
    await press(tab, 'Enter');
    await until('the request', async () => (await pathOf(tab)).startsWith('/d/request?var-trace_id='));
    await settled(tab);
    expect(panelOf(await see(tab), 'Stages').says).toBeNull();
    await tab.close();
  });

  test('by a click on a bar, and back', async () => {
    const tab = await openPage(browser, `${demo.previewUrl}/d/slow-requests${RANGE}`, WIDE);
    await click(tab, await middleOfBar(tab, 'Why the ten slowest were late'));
    await until('the request', async () => (await pathOf(tab)).startsWith('/d/request?var-trace_id='));
    await tab.run('history.back()');
    await until('the way back', async () => (await pathOf(tab)).startsWith('/d/slow-requests'));
    await settled(tab);
    await tab.close();
  });

  test('by a click on a cell of the heatmap to the requests of that moment', async () => {
    const tab = await openPage(browser, `${demo.previewUrl}/d/first-token${RANGE}`, WIDE);
    await tab.run(`document.querySelector('[aria-label^="TTFT over time"].chart').focus()`);
    await press(tab, 'ArrowRight');
    await press(tab, 'Enter');
    await until('the slow requests', async () => /^\/d\/slow-requests\?from=\d+&to=\d+/.test(await pathOf(tab)));
    await tab.close();
  });
});

test('two regions are ticked and shown together, and the address says so', async () => {
  const tab = await openPage(browser, `${demo.previewUrl}/d/where-and-when${RANGE}`, WIDE);
  const find = `[...document.querySelectorAll('.choice')].find((list) => list.textContent.startsWith('Region'))`;
  await until('the variables', () => tab.run<boolean>(`${find} !== undefined`));
  await tab.run(`${find}.open = true`);
  for (const region of ['eu-west', 'us-east']) await tab.run(`${find}.querySelector('[value="${region}"]').click()`);
  await press(tab, 'Escape');
  await until('both', async () => (await pathOf(tab)).endsWith('var-region=eu-west&var-region=us-east'));
  const regions = `[...new Set([...document.querySelectorAll('#panel-3 tbody tr')].map((row) => row.cells[0].textContent))].sort().join()`;
  await until('rows of both', async () => (await tab.run<string>(regions)) === 'eu-west,us-east', 30_000);
  await tab.close();
});

/** The middle of the longest run of one colour in the chart's first row of bars: a bar's largest part. */
function middleOfBar(tab: Tab, title: string): Promise<{ x: number; y: number }> {
  return tab.run(`(() => {
    const canvas = document.querySelector('[aria-label^=${JSON.stringify(title)}].chart canvas');
    const context = canvas.getContext('2d');
    let best = { length: 0, x: 0, y: 0 };
    for (let y = 20; y < canvas.height - 60; y += 4) {
      const { data } = context.getImageData(0, y, canvas.width, 1);
      const colourAt = (x) => data[4 * x + 3] < 250 ? '' : data[4 * x] + ',' + data[4 * x + 1] + ',' + data[4 * x + 2];
      for (let x = 0, from = 0; x < canvas.width; x += 1) {
        if (colourAt(x) === '' || colourAt(x) !== colourAt(from)) from = x;
        else if (x - from > best.length) best = { length: x - from, x: (x + from) / 2, y };
      }
    }
    const box = canvas.getBoundingClientRect();
    return { x: box.x + best.x, y: box.y + best.y };
  })()`);
}

describe('from an alert that fires to the stage that took the time, and to its log line', () => {
  let folder: string;
  let prometheus: RunningPrometheus;
  let preview: Preview;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-alert-'));
    const rules = path.join(folder, 'rules.yaml');
    // The shipped rules, in a hurry: what waits for minutes there waits for seconds here.
    const shipped = readText(PROMETHEUS_RULES_FILE);
    await writeFile(rules, shipped.replaceAll(/interval: 30s/g, 'interval: 1s').replaceAll(/for: \d+m/g, 'for: 1s'));
    prometheus = await startPrometheus({
      config: `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${rules}']
scrape_configs: [{ job_name: ${INGEST_JOB}, static_configs: [{ targets: ['${new URL(demo.adminUrl).host}'] }] }]`,
    });
    const { databaseUrl, logFolder } = demo;
    preview = await startPreview({ databaseUrl, logFolder, prometheusUrl: prometheus.url });
  });
  afterAll(async () => {
    await preview?.stop();
    await prometheus?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('four clicks', async () => {
    const tab = await openPage(browser, `${preview.url}/${RANGE}`, WIDE);
    const alert = '.alerts a[href*="/d/first-token"]';
    await until('the alert', () => tab.run<boolean>(`document.querySelector('${alert}') !== null`), 120_000);
    await clickOn(tab, alert);
    await until("the alert's panel", () => tab.run<boolean>('document.querySelector(".panel.meant") !== null'));
    await settled(tab);
    await tab.run(
      `document.querySelector('[aria-label^="Why the ten slowest were late"].chart').scrollIntoView({ block: 'center' })`,
    );
    await settled(tab);
    await click(tab, await middleOfBar(tab, 'Why the ten slowest were late'));
    await until('the request', async () => (await pathOf(tab)).startsWith('/d/request?var-trace_id='));
    await settled(tab);
    const seen = await see(tab);
    expect(panelOf(seen, 'Stages').ink).toBeGreaterThan(LEAST_INK);
    const id = new URL(await tab.run<string>('location.href')).searchParams.get('var-trace_id')!;
    await clickOn(tab, '.line > summary');
    const line = await tab.run<string>('document.querySelector(".line[open] pre").textContent');
    expect(line).toContain(id);
    await tab.close();
  });
});
