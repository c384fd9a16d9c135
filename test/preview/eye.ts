import type { Browser, Tab } from '../../demo/chromium/chromium.ts';
import { until } from '../postgres/serviceWait.ts';

export interface SeenPanel {
  readonly id: number;
  readonly title: string;
  readonly kind: string;
  /** Its words where it has nothing to draw, or a fault; null where it is drawn. */
  readonly says: string | null;
  readonly isFault: boolean;
  /** Of its canvas that are painted; of other kinds the number of cells, rows or letters. */
  readonly ink: number;
}

export interface Seen {
  readonly panels: readonly SeenPanel[];
  /** Errors and warnings of the console, refused styles and scripts, failed promises. */
  readonly faults: readonly string[];
  /** Pairs of panels that lie over each other, and texts that are cut off. */
  readonly disorder: readonly string[];
}

export interface Window {
  readonly width: number;
  readonly theme: 'light' | 'dark';
}

const LISTEN = `
window.faults = [];
for (const kind of ['error', 'warn']) {
  const tell = console[kind];
  console[kind] = (...words) => { faults.push(words.join(' ')); tell.apply(console, words); };
}
addEventListener('error', ({ message }) => faults.push(message));
addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)));
addEventListener('securitypolicyviolation', ({ violatedDirective, sample }) => faults.push(violatedDirective + ' ' + sample));`;

/** Runs in the page. */
const SEE = `(() => {
  const panels = [...document.querySelectorAll('.panel')];
  const boxes = panels.map((panel) => panel.getBoundingClientRect());
  const titleOf = (panel) => panel.querySelector('h3').textContent;
  const disorder = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b, j) => {
    const over = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    if (over) disorder.push(titleOf(panels[i]) + ' over ' + titleOf(panels[i + 1 + j]));
  }));
  if (document.documentElement.scrollWidth > innerWidth) disorder.push('the page is wider than the window');
  for (const text of document.querySelectorAll('.panel h3, .stat > .body, .quiet, .fault, nav a, .choice > summary, .alerts a'))
    if (text.scrollWidth > text.clientWidth + 1 || text.scrollHeight > text.clientHeight + 1) disorder.push('cut off: ' + text.textContent);
  const inkOf = (panel) => {
    const canvas = panel.querySelector('canvas');
    if (canvas === null) return panel.querySelectorAll('td, .bar, .line').length || (panel.querySelector('.stat')?.textContent.length ?? 0);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let ink = 0;
    for (let at = 3; at < data.length; at += 4) ink += data[at] > 40 ? 1 : 0;
    return ink;
  };
  return {
    faults,
    disorder,
    panels: panels.map((panel) => {
      const words = panel.querySelector('.quiet, .fault');
      return {
        id: Number(panel.id.slice(6)),
        title: titleOf(panel),
        kind: panel.classList[1],
        says: words?.textContent ?? null,
        isFault: words?.classList.contains('fault') ?? false,
        ink: inkOf(panel),
      };
    }),
  };
})()`;

/** A tab of that width, tall enough for the whole page, so that every panel is in sight and asks. */
export async function openPage(browser: Browser, url: string, { width, theme }: Window): Promise<Tab> {
  const tab = await browser.open('about:blank');
  const size = (height: number) =>
    tab.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 500 });
  await tab.send('Page.enable');
  await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: LISTEN });
  await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: theme }] });
  await size(900);
  await tab.goto(url);
  await until('the panels', () => tab.run<boolean>('document.querySelector(".panel") !== null'));
  await size(await tab.run<number>('Math.max(900, document.documentElement.scrollHeight)'));
  await settled(tab);
  return tab;
}

/** Waits until every panel has its answer, and the frames to draw them. */
export async function settled(tab: Tab): Promise<void> {
  await until('every panel to be drawn', () => tab.run<boolean>('document.querySelector(".waiting") === null'), 20_000);
  await tab.run('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
}

export function see(tab: Tab): Promise<Seen> {
  return tab.run<Seen>(SEE);
}

/** A picture of the whole page. */
export async function photograph(tab: Tab): Promise<Buffer> {
  const { data } = await tab.send<{ data: string }>('Page.captureScreenshot', { format: 'png' });
  return Buffer.from(data, 'base64');
}

/** Presses a key as a person does. */
export async function press(tab: Tab, key: string): Promise<void> {
  const code = key.length > 1 ? key : `Key${key.toUpperCase()}`;
  const windowsVirtualKeyCode = { Enter: 13, ArrowRight: 39, ArrowDown: 40, Tab: 9, Escape: 27 }[key] ?? 0;
  for (const type of ['keyDown', 'keyUp'])
    await tab.send('Input.dispatchKeyEvent', {
      type,
      key,
      code,
      windowsVirtualKeyCode,
      ...(key === 'Enter' && type === 'keyDown' ? { text: '\r' } : {}),
    });
}

/** Clicks at a place of the window. */
export async function click(tab: Tab, { x, y }: { readonly x: number; readonly y: number }): Promise<void> {
  await tab.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
  for (const type of ['mousePressed', 'mouseReleased'])
    await tab.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
}

/** Clicks in the middle of what a selector finds. */
export async function clickOn(tab: Tab, selector: string): Promise<void> {
  const place = await tab.run<{ x: number; y: number }>(
    `(() => { const element = document.querySelector(${JSON.stringify(selector)}); element.scrollIntoView({ block: 'center' });
      const box = element.getBoundingClientRect(); return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; })()`,
  );
  await click(tab, place);
}
