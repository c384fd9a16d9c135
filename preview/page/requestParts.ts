import { STAGE_COLOURS } from '../../dashboards/panels/stageColours.ts';
import type { ShownLine } from '../../dashboards/runner/logLines.ts';
import { format, timeText } from '../../dashboards/runner/units.ts';
import type { RequestSpan } from '../../ingest/export/requestSpans.ts';
import { PALETTE } from './colours.ts';
import { el, place } from './dom.ts';

/** The spans of one request as bars below each other, on one scale. */
export function drawSpans(spans: readonly RequestSpan[], body: HTMLElement): boolean {
  const end = Math.max(...spans.map(({ startMs, lengthMs }) => startMs + lengthMs), 0);
  if (spans.length === 0 || end === 0) return false;
  const lines = spans.map(({ name, stage, startMs, lengthMs, clamped }) => {
    const bar = place(el('i', { className: 'bar' }), {
      left: `${(startMs / end) * 100}%`,
      width: `${(lengthMs / end) * 100}%`,
      background: stage === null ? PALETTE[0]! : STAGE_COLOURS[stage],
    });
    const length = clamped ? 'below zero' : format(lengthMs, 'ms');
    return el(
      'li',
      {},
      place(el('span', {}, name), { 'padding-left': stage === null ? '0' : '14px' }),
      el('span', { className: 'track' }, bar),
      el('span', { className: 'number', title: `begins ${format(startMs, 'ms')} after the request` }, length),
    );
  });
  body.replaceChildren(el('ul', { className: 'spans' }, ...lines));
  return true;
}

/** Log lines of one request; each opens to what stands in the file. */
export function drawLines(lines: readonly ShownLine[], body: HTMLElement): boolean {
  if (lines.length === 0) return false;
  const shown = lines.map(({ atMs, service, level, text, line }) =>
    el(
      'details',
      { className: `line ${level}` },
      el(
        'summary',
        {},
        el('time', {}, atMs === null ? '–' : timeText(atMs, false)),
        el('b', {}, service),
        el('span', {}, text),
      ),
      el('pre', {}, line),
    ),
  );
  body.replaceChildren(el('div', { className: 'scroll lines' }, ...shown));
  return true;
}
