import { stringify } from 'yaml';
import { DATA_SOURCES, FOLDER, RUNBOOK } from '../config.ts';
import { type Alert, watched } from './alert.ts';
import { ALERTS } from './alerts.ts';
import { GENERATED_NOTE } from './generatedNote.ts';

/** Grafana's pseudo data source of server-side expressions. */
const EXPRESSION = { type: '__expr__', uid: '__expr__' };

const EVALUATORS = { '>': 'gt', '<': 'lt' } as const;

/**
 * Grafana's alerting provisioning file: the same alerts, evaluated by Grafana, so that they can be routed there and are linked to
 * their panels. Written by hand from Grafana's file format, since the SDK's builders make the form of its HTTP API.
 */
export function grafanaAlerting(): string {
  const group = {
    orgId: 1,
    name: 'firsttoken-alerts',
    folder: FOLDER.title,
    interval: '30s',
    rules: ALERTS.map(rule),
  };
  return GENERATED_NOTE + stringify({ apiVersion: 1, groups: [group] }, { lineWidth: 0, aliasDuplicateObjects: false });
}

/**
 * The threshold is a step of its own, so that the value is there for the summary. Without enough traffic the query yields
 * nothing, which is OK; a Prometheus that does not answer is an error.
 *
 * Annotations keep a single `$`, since Grafana does not expand the environment in them, as it does in labels.
 */
function rule(alert: Alert): object {
  return {
    uid: alert.uid,
    title: alert.name,
    condition: 'C',
    for: alert.for,
    noDataState: 'OK',
    execErrState: 'Error',
    isPaused: alert.paused,
    dashboardUid: alert.panel.dashboardUid,
    panelId: alert.panel.panelId,
    labels: { severity: alert.severity },
    annotations: {
      summary: alert.summary.replaceAll('$VALUE', '$values.B.Value'),
      description: alert.description.replaceAll('$VALUE', '$values.B.Value'),
      runbook_url: `${RUNBOOK}#${alert.name.toLowerCase()}`,
    },
    data: [
      {
        refId: 'A',
        relativeTimeRange: { from: 600, to: 0 },
        datasourceUid: DATA_SOURCES.prometheus.uid,
        model: {
          refId: 'A',
          expr: watched(alert),
          instant: true,
          range: false,
          editorMode: 'code',
          intervalMs: 1000,
          maxDataPoints: 43200,
        },
      },
      {
        refId: 'B',
        relativeTimeRange: { from: 600, to: 0 },
        datasourceUid: EXPRESSION.uid,
        model: {
          refId: 'B',
          type: 'reduce',
          expression: 'A',
          reducer: 'last',
          settings: { mode: 'dropNN' },
          datasource: EXPRESSION,
        },
      },
      {
        refId: 'C',
        relativeTimeRange: { from: 600, to: 0 },
        datasourceUid: EXPRESSION.uid,
        model: {
          refId: 'C',
          type: 'threshold',
          expression: 'B',
          conditions: [{ evaluator: { type: EVALUATORS[alert.comparison], params: [alert.threshold] } }],
          datasource: EXPRESSION,
        },
      },
    ],
  };
}
