import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from '../../dashboards/artefacts.ts';
import { type Interpolation, interpolateSql } from '../../dashboards/runner/interpolation.ts';
import { targetsOf } from '../../dashboards/runner/runPanel.ts';
import { readVariables } from '../../dashboards/runner/variables.ts';
import type { Figure } from '../figure.ts';
import { readCold } from './coldRead.ts';
import type { History } from './history.ts';

const GOAL_MS = 300;

export interface PanelStatement {
  /** Dashboard and title, and the target where a panel has several. */
  readonly id: string;
  readonly sql: string;
}

/** Every SQL target of every dashboard as Grafana would send it, with all options of its variables chosen, over the whole history. */
export async function panelStatements({ pool, from, to }: History): Promise<PanelStatement[]> {
  const range = { from, to, timezone: 'UTC' };
  const { rows } = await pool.query<{ id: string }>(
    `SELECT replace(trace_id::text, '-', '') AS id FROM requests WHERE day = $1::date LIMIT 1`,
    [to.toISOString().slice(0, 10)],
  );
  const typed = { trace_id: [rows[0]!.id] };
  const statements: PanelStatement[] = [];
  for (const dashboard of dashboards()) {
    const variables = await readVariables(dashboard, typed, range, (statement) => pool.query(statement));
    const interpolation: Interpolation = {
      ...range,
      variables: Object.fromEntries(variables.map(({ name, values }) => [name, values])),
    };
    for (const panel of (dashboard.panels ?? []) as Panel[]) {
      const targets = targetsOf(panel).filter(({ rawSql }) => rawSql !== undefined);
      for (const { refId, rawSql } of targets) {
        const target = targets.length > 1 ? ` ${refId}` : '';
        statements.push({
          id: `${dashboard.uid}: ${panel.title ?? panel.id}${target}`,
          sql: interpolateSql(rawSql!, interpolation),
        });
      }
    }
  }
  return statements;
}

/** All panels in turn, round after round, so that none is asked twice in a row; a first round is not counted. */
export async function panelFigures(history: History, rounds: number, say: (step: string) => void): Promise<Figure[]> {
  const statements = await panelStatements(history);
  const tookMs = new Map<string, number[]>(statements.map(({ id }) => [id, []]));
  for (let round = 0; round <= rounds; round++) {
    say(`${statements.length} statements of panels, round ${round} of ${rounds}`);
    for (const { id, sql } of statements) {
      const answer = await readCold(history.url, sql);
      if (round > 0) tookMs.get(id)!.push(answer.tookMs);
    }
  }
  return [...tookMs].map(([id, values]) => ({
    id: `reads/panel/${id}`,
    what: id,
    baseline: '',
    unit: 'ms',
    rounds: values,
    goal: { is: 'at most', value: GOAL_MS },
  }));
}
