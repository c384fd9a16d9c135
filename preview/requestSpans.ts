import { STAGE_COLOURS } from '../dashboards/panels/stageColours.ts';
import type { SqlSource } from '../dashboards/runner/liveSources.ts';
import { placeStages } from '../ingest/export/placeStages.ts';
import type { RequestRow } from '../ingest/pipeline/row.ts';
import { SELECT_ROW } from '../ingest/store/columns.ts';

/** One bar of a trace. Milliseconds from the root's start. */
export interface ShownSpan {
  readonly name: string;
  /** As in the dashboards; null for the root, which is the whole. */
  readonly colour: string | null;
  readonly startMs: number;
  readonly lengthMs: number;
  /** Came out below zero, and is shown with no length. */
  readonly clamped: boolean;
}

/** The spans that a request is exported as, from its row; none without such a row. @param traceKey 32 hex digits */
export async function readSpans({ sql }: SqlSource, traceKey: string): Promise<ShownSpan[]> {
  if (!/^[0-9a-f]{32}$/.test(traceKey)) return [];
  const { rows } = await sql(
    `SELECT ${SELECT_ROW} FROM requests r WHERE r.trace_id = '${traceKey}' ORDER BY r.day DESC LIMIT 1`,
  );
  const row = rows[0] as RequestRow | undefined;
  if (row === undefined) return [];
  const { rootLengthNs, rootClamped, stages } = placeStages(row);
  const root = {
    name: row.route ?? 'request',
    colour: null,
    startMs: 0,
    lengthMs: rootLengthNs / 1e6,
    clamped: rootClamped,
  };
  const spans = stages.map(({ stage, offsetNs, lengthNs, clamped }) => ({
    name: stage,
    colour: STAGE_COLOURS[stage],
    startMs: offsetNs / 1e6,
    lengthMs: lengthNs / 1e6,
    clamped,
  }));
  return [root, ...spans];
}
