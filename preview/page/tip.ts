import { el, place } from './dom.ts';

export interface TipRow {
  readonly colour?: string | undefined;
  readonly name: string;
  readonly text: string;
}

export function tip(title: string, rows: readonly TipRow[], hint = ''): HTMLElement {
  const line = ({ colour, name, text }: TipRow): HTMLElement =>
    el(
      'tr',
      {},
      el('td', {}, colour === undefined ? null : place(el('i', { className: 'dot' }), { background: colour })),
      el('td', {}, name),
      el('td', { className: 'number' }, text),
    );
  return el(
    'div',
    { className: 'tip' },
    el('strong', {}, title),
    el('table', {}, ...rows.map(line)),
    hint === '' ? null : el('small', {}, hint),
  );
}
