import type { SpanStage } from '../../contract/spans.ts';
import type { RequestRow } from '../pipeline/row.ts';
import { SELECT_ROW } from '../store/columns.ts';
import { placeStages } from './placeStages.ts';

/** One span of a request, as it is exported. Milliseconds from the root's start. */
export interface RequestSpan {
  readonly name: string;
  /** Null for the root, which is the whole. */
  readonly stage: SpanStage | null;
  readonly startMs: number;
  readonly lengthMs: number;
  /** Came out below zero, and has no length. */
  readonly clamped: boolean;
}

/**
 * The spans that a request is exported as, from its row; none without such a row.
 *
 * @param sql runs one statement
 * @param traceKey 32 hex digits
 */
export async function readRequestSpans(
  sql: (statement: string) => Promise<{ readonly rows: readonly unknown[] }>,
  traceKey: string,
): Promise<RequestSpan[]> {
  if (!/^[0-9a-f]{32}$/.test(traceKey)) return [];
  const { rows } = await sql(
    `SELECT ${SELECT_ROW} FROM requests r WHERE r.trace_id = '${traceKey}' ORDER BY r.day DESC LIMIT 1`,
  );
  const row = rows[0] as RequestRow | undefined;
  if (row === undefined) return [];
  const { rootLengthNs, rootClamped, stages } = placeStages(row);
  const name = row.route ?? 'request';
  const root = { name, stage: null, startMs: 0, lengthMs: rootLengthNs / 1e6, clamped: rootClamped };
  const spans = stages.map(({ stage, offsetNs, lengthNs, clamped }) => ({
    name: stage,
    stage,
    startMs: offsetNs / 1e6,
    lengthMs: lengthNs / 1e6,
    clamped,
  }));
  return [root, ...spans];
}
