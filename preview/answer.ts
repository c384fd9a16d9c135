import type { Frame } from '../dashboards/runner/frame.ts';
import { interpolateText } from '../dashboards/runner/interpolation.ts';
import { promql, type SqlSource } from '../dashboards/runner/liveSources.ts';
import { readLines, type ShownLine } from '../dashboards/runner/logLines.ts';
import { runPanel } from '../dashboards/runner/runPanel.ts';
import { readVariables, type Variable } from '../dashboards/runner/variables.ts';
import { type RequestSpan, readRequestSpans } from '../ingest/export/requestSpans.ts';
import { type Question, QuestionError } from './question.ts';

/** What a panel shows: frames, or what stands in place of a store of traces or logs, or why there is nothing. */
export type PanelAnswer =
  | { readonly frames: readonly Frame[] }
  | { readonly spans: readonly RequestSpan[] }
  | { readonly lines: readonly ShownLine[] }
  | { readonly missing: string };

export interface AnswerSources {
  readonly sql: SqlSource;
  readonly prometheusUrl: string | null;
  readonly logFolder: string;
}

export const NO_PROMETHEUS =
  'This panel asks Prometheus. Install it (Debian: apt-get install prometheus) and start --with-prometheus, or set PROMETHEUS_URL.';

export function answerVariables(question: Question, { sql }: AnswerSources): Promise<Variable[]> {
  return readVariables(question.dashboard, question.chosen, question, sql.remembered);
}

/** @throws QuestionError when no panel is named */
export async function answerPanel(question: Question, sources: AnswerSources): Promise<PanelAnswer> {
  const { sql, prometheusUrl, logFolder } = sources;
  const { panel } = question;
  if (panel === null) throw new QuestionError('a panel must be named');
  const variables = await answerVariables(question, sources);
  const interpolation = {
    ...question,
    variables: Object.fromEntries(variables.map(({ name, values }) => [name, values])),
  };
  const type = (panel.targets?.[0] as { datasource?: { type?: string } } | undefined)?.datasource?.type;
  // A trace store and a log store are parts of compose; here the row and the files take their place.
  if (type === 'tempo' || type === 'loki') {
    const ids = ['trace_key', 'log_id'].map((name) => interpolateText(`\${${name}}`, interpolation));
    return type === 'tempo'
      ? { spans: await readRequestSpans(sql.sql, ids[0]!) }
      : { lines: await readLines(logFolder, ids) };
  }
  if (type === 'prometheus' && prometheusUrl === null) return { missing: NO_PROMETHEUS };
  const frames = await runPanel(panel, interpolation, {
    sql: sql.sql,
    promql: (path, parameters) => promql(prometheusUrl!, path, parameters),
  });
  return { frames };
}
