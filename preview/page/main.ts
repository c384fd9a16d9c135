import type { ShownDashboard } from '../dashboards.ts';
import { ask } from './ask.ts';
import { alertStrip, navigation, rangePicker, refreshPicker, variableBar } from './controls.ts';
import { DashboardView } from './dashboardView.ts';
import { el } from './dom.ts';
import { HOME, readView, type View } from './view.ts';

/** Dashboards have their own pace; a glance at a running demo wants this one. */
const REFRESH_SECONDS = 10;
const ALERTS_EVERY_MS = 10_000;

let dashboards: readonly ShownDashboard[] = [];
let current: DashboardView | undefined;
let timer: ReturnType<typeof setInterval> | undefined;
let refreshSeconds = REFRESH_SECONDS;
let alerts = alertStrip([]);

function open(path: string): void {
  history.pushState(null, '', path);
  void show();
}

async function show(): Promise<void> {
  const view = readView(new URL(location.href));
  const dashboard = dashboards.find(({ uid }) => uid === view.uid);
  current?.end();
  current = undefined;
  if (dashboard === undefined) {
    const home = el('a', { href: `/d/${HOME}` }, 'First token');
    document.body.replaceChildren(
      heading(view),
      el('p', { className: 'fault' }, 'There is no such dashboard. Begin at ', home, '.'),
    );
    return;
  }
  document.title = `${dashboard.title} · Firsttoken`;
  const place = el('div');
  current = new DashboardView(dashboard, view, open);
  document.body.replaceChildren(heading(view), alerts, place, current.element);
  if (view.viewPanel > 0) current.show(view.viewPanel);
  else scrollTo(0, 0);
  startRefreshing();
  try {
    place.replaceWith(variableBar(await ask('variables', view), view, open));
  } catch (error) {
    place.replaceWith(el('p', { className: 'fault' }, error instanceof Error ? error.message : String(error)));
  }
}

function heading(view: View): HTMLElement {
  const theme = el('button', { type: 'button', 'aria-label': 'Dark or light', title: 'Dark or light' }, '◐');
  theme.addEventListener('click', () => setTheme(isDark() ? 'light' : 'dark'));
  const choose = (seconds: number): void => {
    refreshSeconds = seconds;
    startRefreshing();
  };
  const controls = el(
    'span',
    { className: 'controls' },
    rangePicker(view, open),
    refreshPicker(refreshSeconds, choose),
    theme,
  );
  const home = el('a', { className: 'brand', href: `/d/${HOME}` }, 'Firsttoken');
  return el('header', { className: 'top' }, home, navigation(dashboards, view), controls);
}

function startRefreshing(): void {
  clearInterval(timer);
  if (refreshSeconds > 0) timer = setInterval(() => document.hidden || current?.refresh(), refreshSeconds * 1_000);
}

async function refreshAlerts(): Promise<void> {
  const strip = alertStrip(await ask('alerts').catch(() => []));
  alerts.replaceWith(strip);
  alerts = strip;
}

const isDark = (): boolean =>
  document.documentElement.dataset['theme'] === 'dark' ||
  (document.documentElement.dataset['theme'] === undefined && matchMedia('(prefers-color-scheme: dark)').matches);

function setTheme(theme: string): void {
  document.documentElement.dataset['theme'] = theme;
  localStorage.setItem('theme', theme);
  current?.redraw();
}

/** Links of the page itself lead to it without loading it anew. */
document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest?.('a');
  const asked = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || asked || link.origin !== location.origin || !link.pathname.startsWith('/d/')) return;
  event.preventDefault();
  open(link.pathname + link.search);
});
/** One list is open at a time, and closes by a click beside it or by Escape. */
document.addEventListener('pointerdown', ({ target }) => closeLists(target as Element));
document.addEventListener('keydown', ({ key }) => key === 'Escape' && closeLists(null));
function closeLists(except: Element | null): void {
  for (const list of document.querySelectorAll<HTMLDetailsElement>('details.choice[open], details.about[open]'))
    if (!list.contains(except)) list.open = false;
}
addEventListener('popstate', () => void show());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => current?.redraw());

const theme = localStorage.getItem('theme');
if (theme !== null) document.documentElement.dataset['theme'] = theme;
try {
  dashboards = await ask('dashboards');
  await show();
  void refreshAlerts();
  setInterval(() => document.hidden || void refreshAlerts(), ALERTS_EVERY_MS);
} catch (error) {
  document.body.replaceChildren(el('p', { className: 'fault' }, `The server does not answer: ${String(error)}`));
}
