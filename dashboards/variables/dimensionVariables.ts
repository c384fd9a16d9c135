import { QueryVariableBuilder, VariableRefresh, VariableSort } from '@grafana/grafana-foundation-sdk/dashboard';
import { POSTGRES } from './dataSources.ts';
import { DIMENSIONS, type Dimension } from './dimensions.ts';
import { optionsSql } from './options.ts';

/**
 * One variable per dimension, several values at once, All by default.
 *
 * The options are the label values that the metrics may have, always with `unknown` and `other`, so that All, which Grafana
 * writes out as the list of options, leaves nothing out: neither a row without the value nor one beyond the cap. `allValue` would
 * be pasted into SQL unquoted. The options are read again with every refresh of the time range, so that a model that appears
 * while the dashboard is open is part of All.
 */
export function dimensionVariables(dimensions: readonly Dimension[] = DIMENSIONS): QueryVariableBuilder[] {
  return dimensions.map((dimension) =>
    new QueryVariableBuilder(dimension)
      .label(LABELS[dimension])
      .datasource(POSTGRES)
      .query(`${optionsSql(dimension)}\nORDER BY 1`)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.Disabled)
      .multi(true)
      .includeAll(true)
      .current({ text: ['All'], value: ['$__all'] }),
  );
}

const LABELS: Record<Dimension, string> = {
  model: 'Model',
  route: 'Route',
  variant: 'Variant',
  tier: 'Tier',
  region: 'Region',
  device: 'Device',
};
