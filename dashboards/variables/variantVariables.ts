import { QueryVariableBuilder, VariableRefresh, VariableSort } from '@grafana/grafana-foundation-sdk/dashboard';
import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { POSTGRES } from './dataSources.ts';

/** The two variants that are held against each other: one value each, the first and the last name at first. */
export function variantVariables(): QueryVariableBuilder[] {
  return [variant('variant_a', 'Variant A', 'ASC'), variant('variant_b', 'Variant B', 'DESC')];
}

function variant(name: string, label: string, order: 'ASC' | 'DESC'): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(POSTGRES)
    .query(
      `SELECT value FROM (
  SELECT value FROM label_values WHERE label = 'variant'
  UNION SELECT '${UNKNOWN_LABEL}'
) AS variants
ORDER BY value = '${UNKNOWN_LABEL}', value ${order}`,
    )
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.Disabled);
}
