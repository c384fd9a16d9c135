import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { PROMETHEUS } from './variables/dataSources.ts';

/** Grafana's own store of annotations. */
const GRAFANA = { type: 'grafana', uid: '-- Grafana --' };

/** The tag under which a pipeline posts its deployments to Grafana; see docs/dashboards.md. */
export const DEPLOYMENT_TAG = 'deployment';

/**
 * Marks over time in every panel: when an alert fired, and when something was deployed. Most sudden changes of a figure coincide with
 * one of the latter. The SDK has no builders for these targets.
 */
export function annotations(): AnnotationQueryBuilder[] {
  const alerts = {
    refId: 'Anno',
    datasource: PROMETHEUS,
    expr: 'ALERTS{alertstate="firing", severity=~"page|ticket"}',
    _implementsDataqueryVariant() {},
  };
  const deployments = {
    refId: 'Anno',
    type: 'tags',
    tags: [DEPLOYMENT_TAG],
    matchAny: false,
    limit: 100,
    _implementsDataqueryVariant() {},
  };
  return [
    new AnnotationQueryBuilder()
      .name('Alerts')
      .datasource(PROMETHEUS)
      .enable(true)
      .iconColor('red')
      .expr(alerts.expr)
      .titleFormat('{{alertname}}')
      .textFormat('{{model}}')
      .target({ build: () => alerts }),
    new AnnotationQueryBuilder()
      .name('Deployments')
      .datasource(GRAFANA)
      .enable(true)
      .iconColor('blue')
      .target({ build: () => deployments }),
  ];
}
