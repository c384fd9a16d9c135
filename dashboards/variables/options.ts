import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import type { Dimension } from './dimensions.ts';

/** What may be chosen of a dimension: a SELECT of `value`, in no order. */
export function optionsSql(dimension: Dimension): string {
  const known =
    dimension === 'device'
      ? 'SELECT unnest(enum_range(NULL::device))::text AS value'
      : `SELECT value FROM label_values WHERE label = '${dimension}'`;
  return `${known}\nUNION SELECT '${UNKNOWN_LABEL}'\nUNION SELECT '${OTHER_LABEL}'`;
}
