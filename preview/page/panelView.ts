import { lookOf } from '../../dashboards/runner/look.ts';
import type { PanelAnswer } from '../answer.ts';
import type { ShownPanel } from '../dashboards.ts';
import { ask } from './ask.ts';
import { drawBars } from './bars.ts';
import { endChart } from './chart.ts';
import { el, place } from './dom.ts';
import type { Draw } from './draw.ts';
import { drawHeatmap } from './heatmap.ts';
import { fillLink } from './links.ts';
import { drawLines, drawSpans } from './requestParts.ts';
import { drawScatter } from './scatter.ts';
import { drawStat } from './stat.ts';
import { drawTable } from './table.ts';
import { drawTimeSeries } from './timeSeries.ts';
import type { View } from './view.ts';

const KINDS: Readonly<Record<string, Draw>> = {
  stat: drawStat,
  timeseries: drawTimeSeries,
  heatmap: drawHeatmap,
  xychart: drawScatter,
  barchart: drawBars,
  table: drawTable,
};

const NOTHING: Readonly<Record<string, string>> = {
  traces: 'No request with this id is stored. Enter a trace id above, or open one from Slow requests.',
  logs: 'No log of this machine has a line with this id.',
};

/** A panel on the page: its place in the grid, its title, and what its queries yield. */
export class PanelView {
  readonly element: HTMLElement;
  readonly #panel: ShownPanel;
  readonly #view: View;
  readonly #open: (path: string) => void;
  readonly #body = el('div', { className: 'body waiting' });
  #answer: PanelAnswer | null = null;
  #asking = false;

  constructor(panel: ShownPanel, view: View, open: (path: string) => void) {
    this.#panel = panel;
    this.#view = view;
    this.#open = open;
    const { x = 0, y = 0, w = 24, h = 1 } = panel.gridPos ?? {};
    const links = (panel.links ?? []).map(({ title, url }) => el('a', { href: fillLink(url ?? '', view) }, title));
    const about = panel.description
      ? el(
          'details',
          { className: 'about' },
          el('summary', { 'aria-label': 'About this panel' }, '?'),
          el('p', {}, panel.description),
        )
      : null;
    this.element = el(
      'section',
      { className: `panel ${panel.type}`, id: `panel-${panel.id}`, 'aria-label': panel.title ?? '' },
      el('header', {}, el('h3', {}, panel.title ?? ''), ...links, about),
      this.#body,
    );
    place(this.element, { '--column': `${x + 1} / span ${w}`, '--row': `${y + 1} / span ${h}`, '--height': String(h) });
  }

  /** Asks and draws. What was drawn stays until the answer is there. */
  async refresh(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      this.#answer = await ask('panel', this.#view, this.#panel.id ?? 0);
      this.draw();
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error), 'fault');
    } finally {
      this.#asking = false;
      this.#body.classList.remove('waiting');
    }
  }

  /** Draws what is known once more: after a change of colours. */
  draw(): void {
    const answer = this.#answer;
    if (answer === null) return;
    if (!this.element.isConnected) return;
    if ('missing' in answer) return this.#say(answer.missing, 'quiet');
    if (!this.#drawn(answer)) this.#say(NOTHING[this.#panel.type] ?? lookOf(this.#panel).noValue ?? 'no data', 'quiet');
  }

  #drawn(answer: Exclude<PanelAnswer, { missing: string }>): boolean {
    if ('spans' in answer) return drawSpans(answer.spans, this.#body);
    if ('lines' in answer) return drawLines(answer.lines, this.#body);
    const draw = KINDS[this.#panel.type];
    if (draw === undefined) throw new Error(`Panels of the kind ${this.#panel.type} are drawn by Grafana only.`);
    const drawing = { panel: this.#panel, frames: answer.frames, view: this.#view, body: this.#body, open: this.#open };
    return draw(drawing);
  }

  #say(text: string, kind: 'quiet' | 'fault'): void {
    endChart(this.#body);
    this.#body.replaceChildren(el('p', { className: kind }, text));
  }

  end(): void {
    endChart(this.#body);
  }
}
