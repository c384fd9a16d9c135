import { DatasourceVariableBuilder, VariableHide } from '@grafana/grafana-foundation-sdk/dashboard';
import { DATA_SOURCES } from '../config.ts';
import { reference } from './reference.ts';

/** References for panels: variables, so that the JSON can be imported into a Grafana whose data sources have other uids. */
export const PROMETHEUS = { type: DATA_SOURCES.prometheus.type, uid: reference('ds_prom') };
export const POSTGRES = { type: DATA_SOURCES.postgres.type, uid: reference('ds_pg') };

export function dataSourceVariables(): DatasourceVariableBuilder[] {
  return [hiddenDataSource('ds_prom', DATA_SOURCES.prometheus), hiddenDataSource('ds_pg', DATA_SOURCES.postgres)];
}

type DataSource = (typeof DATA_SOURCES)[keyof typeof DATA_SOURCES];

function hiddenDataSource(name: string, source: DataSource): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder(name)
    .type(source.type)
    .current({ text: source.name, value: source.uid })
    .hide(VariableHide.HideVariable);
}
