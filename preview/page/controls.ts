import { timeText } from '../../dashboards/runner/units.ts';
import type { Variable } from '../../dashboards/runner/variables.ts';
import type { FiringAlert } from '../alerts.ts';
import type { ShownDashboard } from '../dashboards.ts';
import { el } from './dom.ts';
import { pathOf, type View } from './view.ts';

const RANGES: readonly (readonly [string, string])[] = [
  ['now-5m', '5 minutes'],
  ['now-15m', '15 minutes'],
  ['now-1h', '1 hour'],
  ['now-3h', '3 hours'],
  ['now-6h', '6 hours'],
  ['now-24h', '24 hours'],
  ['now-7d', '7 days'],
];
const REFRESH_SECONDS = [5, 10, 30, 60, 0] as const;
/** As Grafana writes it into addresses; the server's half of it is in dashboards/runner/variables.ts. */
const ALL = '$__all';

export function navigation(dashboards: readonly ShownDashboard[], view: View): HTMLElement {
  const links = dashboards.map(({ uid, title }) =>
    el('a', { href: pathOf({ ...view, uid: uid! }), 'aria-current': uid === view.uid ? 'page' : undefined }, title!),
  );
  return el('nav', { 'aria-label': 'Dashboards' }, ...links);
}

export function rangePicker(view: View, open: (path: string) => void): HTMLElement {
  const relative = RANGES.some(([from]) => from === view.from) && view.to === 'now';
  const own = relative ? [] : [el('option', { value: '' }, `${momentText(view.from)} – ${momentText(view.to)}`)];
  const options = RANGES.map(([from, name]) => el('option', { value: from }, `Last ${name}`));
  const select = el('select', { 'aria-label': 'Time range' }, ...own, ...options);
  select.value = relative ? view.from : '';
  select.addEventListener('change', () => open(pathOf({ ...view, from: select.value, to: 'now' })));

  const [from, to] = [
    el('input', { type: 'datetime-local', step: 1 }),
    el('input', { type: 'datetime-local', step: 1 }),
  ];
  const apply = el('button', { type: 'button' }, 'Show');
  apply.addEventListener('click', () => {
    const [start, end] = [new Date(from.value).getTime(), new Date(to.value).getTime()];
    if (start < end) open(pathOf({ ...view, from: String(start), to: String(end) }));
    else from.focus();
  });
  const fields = el('div', { className: 'drop' }, el('label', {}, 'From', from), el('label', {}, 'To', to), apply);
  return el(
    'span',
    { className: 'pair' },
    select,
    el('details', { className: 'choice' }, el('summary', {}, 'Other'), fields),
  );
}

function momentText(moment: string): string {
  return /^\d+$/.test(moment) ? timeText(Number(moment)) : moment;
}

export function refreshPicker(seconds: number, choose: (seconds: number) => void): HTMLElement {
  const options = REFRESH_SECONDS.map((each) =>
    el('option', { value: each }, each === 0 ? 'Refresh: off' : `Every ${each} s`),
  );
  const select = el('select', { 'aria-label': 'Refresh' }, ...options);
  select.value = String(seconds);
  select.addEventListener('change', () => choose(Number(select.value)));
  return select;
}

export function alertStrip(alerts: readonly FiringAlert[]): HTMLElement {
  const items = alerts.map(({ name, severity, summary, path }) =>
    el('li', { className: severity }, el('a', { href: path, title: name }, summary || name)),
  );
  const strip = el('ul', { className: 'alerts', 'aria-label': 'Alerts that fire' }, ...items);
  strip.hidden = items.length === 0;
  return strip;
}

export function variableBar(variables: readonly Variable[], view: View, open: (path: string) => void): HTMLElement {
  const choose = (name: string, values: readonly string[]): void =>
    open(pathOf({ ...view, variables: { ...view.variables, [name]: values } }));
  const shown = variables.filter(({ hidden }) => !hidden);
  const controls = shown.map((variable) => {
    if (variable.kind === 'text') return textBox(variable, choose);
    return variable.many ? manyChoice(variable, choose) : oneChoice(variable, choose);
  });
  const bar = el('div', { className: 'variables' }, ...controls);
  bar.hidden = controls.length === 0;
  return bar;
}

type Choose = (name: string, values: readonly string[]) => void;

function textBox({ name, label, values }: Variable, choose: Choose): HTMLElement {
  const input = el('input', { value: values[0] ?? '', spellcheck: false, autocomplete: 'off', placeholder: label });
  input.addEventListener('change', () => choose(name, [input.value.trim()]));
  return el('label', { className: 'wide' }, label, input);
}

function oneChoice({ name, label, options, values }: Variable, choose: Choose): HTMLElement {
  const select = el('select', {}, ...options.map((option) => el('option', { value: option }, option)));
  select.value = values[0] ?? '';
  select.addEventListener('change', () => choose(name, [select.value]));
  return el('label', {}, label, select);
}

/** Several may be ticked before the list is closed, which shows them. */
function manyChoice({ name, label, options, values, all }: Variable, choose: Choose): HTMLElement {
  const box = (text: string, checked: boolean): HTMLInputElement =>
    el('input', { type: 'checkbox', value: text, checked });
  const every = box(ALL, all);
  const boxes = options.map((option) => box(option, !all && values.includes(option)));
  const list = [el('label', {}, every, 'All'), ...boxes.map((each) => el('label', {}, each, each.value))];
  const summary = el('summary', {}, `${label} `, el('b', {}, all ? 'All' : values.join(', ')));
  const details = el('details', { className: 'choice' }, summary, el('div', { className: 'drop' }, ...list));
  let changed = false;
  every.addEventListener('change', () => {
    for (const each of boxes) each.checked = false;
    changed = true;
    details.open = false;
  });
  for (const each of boxes)
    each.addEventListener('change', () => {
      every.checked = false;
      changed = true;
    });
  details.addEventListener('toggle', () => {
    if (details.open || !changed) return;
    const picked = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    choose(name, picked.length === 0 ? [ALL] : picked);
  });
  return details;
}
