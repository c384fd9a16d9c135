import { stringify } from 'yaml';
import { GRAFANA_URL, RUNBOOK } from '../config.ts';
import { ALERTS, type Alert } from './alerts.ts';
import { GENERATED_NOTE } from './generatedNote.ts';
import { recordingRules } from './recordingRules.ts';

/** Prometheus' rule file. The alerts' group comes after the figures' and reads what those recorded. */
export function prometheusRules(): string {
  const groups = [
    { name: 'firsttoken-figures', interval: '30s', rules: recordingRules() },
    { name: 'firsttoken-alerts', interval: '30s', rules: ALERTS.map(alertingRule) },
  ];
  return GENERATED_NOTE + stringify({ groups }, { lineWidth: 0 });
}

function alertingRule(alert: Alert): object {
  const dashboard = `${GRAFANA_URL}/d/${alert.panel.dashboardUid}?viewPanel=${alert.panel.panelId}`;
  return {
    alert: alert.name,
    expr: `${alert.figure} > ${alert.above} and on (model) ${alert.enoughTraffic}`,
    for: alert.for,
    labels: { severity: alert.severity },
    annotations: {
      summary: alert.summary.replaceAll('$VALUE', '$value'),
      description: alert.description.replaceAll('$VALUE', '$value'),
      runbook_url: `${RUNBOOK}#${alert.name.toLowerCase()}`,
      dashboard_url: `${dashboard}&var-model={{ $labels.model | urlquery }}`,
    },
  };
}
