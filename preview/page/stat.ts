import { lookOf, stepOf } from '../../dashboards/runner/look.ts';
import { format } from '../../dashboards/runner/units.ts';
import { colourOf } from './colours.ts';
import { el, place } from './dom.ts';
import type { Draw } from './draw.ts';
import { linkOf } from './links.ts';

/** One number in the colour of its threshold: the last known value of the first field of numbers. */
export const drawStat: Draw = ({ panel, frames, view, body }) => {
  for (const frame of frames) {
    const field = frame.fields.find(({ type }) => type === 'number');
    const row = field?.values.findLastIndex((value) => value !== null) ?? -1;
    if (field === undefined || row < 0) continue;
    const look = lookOf(panel, field);
    const value = Number(field.values[row]);
    const [number = '', unit = ''] = format(value, look.unit, look.decimals).split(' ');
    const colour = colourOf(stepOf(look, value)?.color ?? 'text');
    const path = linkOf(look, frame, row, view);
    const text = place(el(path === undefined ? 'span' : 'a', { className: 'stat' }, number), { color: colour });
    if (unit !== '') text.append(el('small', {}, unit));
    if (path !== undefined) text.setAttribute('href', path);
    body.replaceChildren(text);
    return true;
  }
  return false;
};
