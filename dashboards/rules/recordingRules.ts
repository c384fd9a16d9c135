import { RECORDING_RULES } from '../../contract/metrics.ts';
import { FIGURES, figureExpression } from '../queries/figures.ts';

/** A rule as Prometheus' rule file has it. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** One hour: long enough for a p95 of little traffic, short enough that this hour's trouble shows. */
const WINDOW = '1h';

export function recordingRules(): RecordingRule[] {
  return RECORDING_RULES.map((record) => ({
    record,
    expr: figureExpression(record, { window: WINDOW, by: FIGURES[record].keep }),
  }));
}
