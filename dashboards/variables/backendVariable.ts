import { QueryVariableBuilder, VariableRefresh, VariableSort } from '@grafana/grafana-foundation-sdk/dashboard';
import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { POSTGRES } from './dataSources.ts';

/** Serving hosts or pods, several at once; All at first. */
export function backendVariable(): QueryVariableBuilder {
  return new QueryVariableBuilder('backend')
    .label('Backend')
    .datasource(POSTGRES)
    .query(
      `SELECT value FROM label_values WHERE label = 'backend'\nUNION SELECT '${UNKNOWN_LABEL}'\nUNION SELECT '${OTHER_LABEL}'\nORDER BY 1`,
    )
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.Disabled)
    .multi(true)
    .includeAll(true)
    .current({ text: ['All'], value: ['$__all'] });
}
