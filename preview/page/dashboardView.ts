import type { ShownDashboard } from '../dashboards.ts';
import { el, place } from './dom.ts';
import { PanelView } from './panelView.ts';
import type { View } from './view.ts';

/** Panels of a dashboard by its grid. Only those in sight ask, when they come into it and at each refresh. */
export class DashboardView {
  readonly element: HTMLElement;
  readonly #panels = new Map<Element, PanelView>();
  readonly #inSight = new Set<PanelView>();
  readonly #watch: IntersectionObserver;

  constructor(dashboard: ShownDashboard, view: View, open: (path: string) => void) {
    this.element = el('main', { className: 'grid', id: 'panels' });
    this.#watch = new IntersectionObserver((entries) => this.#see(entries), { rootMargin: '200px' });
    for (const panel of dashboard.panels) {
      if (panel.type === 'row') {
        const { y = 0 } = panel.gridPos ?? {};
        this.element.append(place(el('h2', {}, panel.title ?? ''), { '--row': `${y + 1} / span 1` }));
        continue;
      }
      const shown = new PanelView(panel, view, open);
      this.#panels.set(shown.element, shown);
      this.element.append(shown.element);
      this.#watch.observe(shown.element);
    }
  }

  /** Brings a panel into sight and marks it: that of an alert's link. */
  show(panelId: number): void {
    const element = this.element.querySelector(`#panel-${panelId}`);
    element?.classList.add('meant');
    element?.scrollIntoView({ block: 'center' });
  }

  refresh(): void {
    for (const panel of this.#inSight) void panel.refresh();
  }

  redraw(): void {
    for (const panel of this.#panels.values()) panel.draw();
  }

  end(): void {
    this.#watch.disconnect();
    for (const panel of this.#panels.values()) panel.end();
  }

  #see(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const panel = this.#panels.get(target)!;
      if (!isIntersecting) this.#inSight.delete(panel);
      else if (!this.#inSight.has(panel)) {
        this.#inSight.add(panel);
        void panel.refresh();
      }
    }
  }
}
