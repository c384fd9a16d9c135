import type { Variable } from '../../dashboards/runner/variables.ts';
import type { FiringAlert } from '../alerts.ts';
import type { PanelAnswer } from '../answer.ts';
import type { ShownDashboard } from '../dashboards.ts';
import type { View } from './view.ts';

interface Answers {
  readonly dashboards: readonly ShownDashboard[];
  readonly alerts: readonly FiringAlert[];
  readonly variables: readonly Variable[];
  readonly panel: PanelAnswer;
}

/** Asks this page's own server. @throws Error with its words */
export async function ask<K extends keyof Answers>(what: K, view?: View, panel?: number): Promise<Answers[K]> {
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  const answer = await fetch(`/ask/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(view === undefined ? null : { ...view, panel, timezone }),
  });
  const body = (await answer.json()) as Answers[K] & { error?: string };
  if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
  return body;
}
