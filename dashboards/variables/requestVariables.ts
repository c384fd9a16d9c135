import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableHide,
  type VariableModel,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { logIdSql, TRACE_ID_VARIABLE, traceKeySql } from '../queries/oneRequest.ts';
import { POSTGRES } from './dataSources.ts';

/** The id, as anyone writes it; and, hidden, how traces and logs spell it. */
export function requestVariables(): Builder<VariableModel>[] {
  return [
    new TextBoxVariableBuilder(TRACE_ID_VARIABLE).label('Trace id').defaultValue('').current({ text: '', value: '' }),
    hidden('trace_key', traceKeySql()),
    hidden('log_id', logIdSql()),
  ];
}

/** One value, read again whenever the text box changes, since its query names that. */
function hidden(name: string, sql: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .datasource(POSTGRES)
    .query(sql)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .hide(VariableHide.HideVariable);
}
