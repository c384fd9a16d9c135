import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';
import { PROMETHEUS } from '../variables/dataSources.ts';

/** One value for the whole time range of the dashboard. */
export function instantQuery(expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId('A')
    .datasource(PROMETHEUS)
    .editorMode(QueryEditorMode.Code)
    .expr(expr)
    .format(PromQueryFormat.TimeSeries)
    .instant();
}

/** Bucket counts over time. `{{le}}` must stay the series' name: the heatmap reads its rows' bounds from it. */
export function bucketsQuery(expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId('A')
    .datasource(PROMETHEUS)
    .editorMode(QueryEditorMode.Code)
    .expr(expr)
    .format(PromQueryFormat.Heatmap)
    .legendFormat('{{le}}')
    .exemplar(true)
    .range();
}

/** Curves over time; `legend` may name labels, as `{{region}}`. */
export function curveQuery(refId: string, expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(refId)
    .datasource(PROMETHEUS)
    .editorMode(QueryEditorMode.Code)
    .expr(expr)
    .format(PromQueryFormat.TimeSeries)
    .legendFormat(legend)
    .range();
}

/** The newest value of every series, a row each, its labels as text columns. */
export function tableQuery(refId: string, expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(refId)
    .datasource(PROMETHEUS)
    .editorMode(QueryEditorMode.Code)
    .expr(expr)
    .format(PromQueryFormat.Table)
    .instant();
}
