import { greenToRed, inkOn } from '../../dashboards/runner/colourScale.ts';
import type { Field, Frame } from '../../dashboards/runner/frame.ts';
import { type Look, lookOf, nameOf, stepOf } from '../../dashboards/runner/look.ts';
import { format, timeText } from '../../dashboards/runner/units.ts';
import { colourOf } from './colours.ts';
import { el, place } from './dom.ts';
import { type Draw, rowCount } from './draw.ts';
import { linkOf } from './links.ts';
import type { View } from './view.ts';

const MAX_ROWS = 500;
/** Its first letters tell it from others; all of them would push the other columns out of sight. */
const ID = /^[0-9a-f]{32}$/;

interface ShownColumn {
  readonly field: Field;
  readonly look: Look;
}

export const drawTable: Draw = ({ panel, frames, view, body }) => {
  const frame = frames[0];
  const rows = rowCount(frame);
  if (frame === undefined || rows === 0) return false;
  const columns = frame.fields
    .map((field): ShownColumn => ({ field, look: lookOf(panel, field) }))
    .filter(({ look }) => look.custom.hidden !== true);
  const head = columns.map(({ field, look }) =>
    el('th', { scope: 'col', className: field.type }, nameOf(field, look).replaceAll('_', ' ')),
  );
  const lines = Array.from({ length: Math.min(rows, MAX_ROWS) }, (_, row) =>
    el('tr', {}, ...columns.map((column) => cellOf(column, frame, row, view))),
  );
  const className = columns.length === 2 ? 'facts' : '';
  const table = el('table', { className }, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...lines));
  const more = rows > MAX_ROWS ? el('p', { className: 'quiet' }, `${MAX_ROWS} of ${rows} rows`) : null;
  const scroll = el(
    'div',
    { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': panel.title ?? '' },
    table,
  );
  if (more !== null) scroll.append(more);
  body.replaceChildren(scroll);
  return true;
};

function cellOf({ field, look }: ShownColumn, frame: Frame, row: number, view: View): HTMLElement {
  const value = field.values[row] ?? null;
  const path = linkOf(look, frame, row, view);
  const text = textOf(field, look, value);
  const cell = el(
    'td',
    { className: field.type },
    path === undefined || value === null
      ? text
      : el('a', { href: path, ...(ID.test(text) ? { className: 'id', title: text } : {}) }, text),
  );
  const colour = typeof value === 'number' ? backgroundOf(look, value) : undefined;
  return colour === undefined ? cell : place(cell, { background: colour, color: inkOn(colour) });
}

function textOf({ type }: Field, { noValue = '–', unit, decimals }: Look, value: unknown): string {
  if (value === null || value === undefined) return noValue;
  if (type === 'time') return timeText(value as string);
  return type === 'number' ? format(Number(value), unit, decimals) : String(value);
}

function backgroundOf(look: Look, value: number): string | undefined {
  if (look.custom.cellOptions?.type !== 'color-background') return undefined;
  if (look.color?.mode !== 'continuous-GrYlRd') return colourOf(stepOf(look, value)?.color ?? 'text');
  const { min = 0, max = 1 } = look;
  return greenToRed((value - min) / (max - min));
}
