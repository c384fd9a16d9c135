import { stringify } from 'yaml';
import { GRAFANA_URL, RUNBOOK } from '../config.ts';
import { type Alert, firing } from './alert.ts';
import { ALERTS } from './alerts.ts';
import { GENERATED_NOTE } from './generatedNote.ts';
import { recordingRules } from './recordingRules.ts';

const INTERVAL = '30s';

/** Prometheus' rule file. The alerts' group comes after the figures' and reads what those recorded. */
export function prometheusRules(): string {
  return ruleFile([
    { name: 'firsttoken-figures', interval: INTERVAL, rules: recordingRules() },
    { name: 'firsttoken-alerts', interval: INTERVAL, rules: ALERTS.filter(({ paused }) => !paused).map(alertingRule) },
  ]);
}

/** The alerts that ship paused, as a file that Prometheus does not read unless it is told to. */
export function pausedPrometheusRules(): string {
  const rules = ALERTS.filter(({ paused }) => paused).map(alertingRule);
  return ruleFile([{ name: 'firsttoken-alerts-paused', interval: INTERVAL, rules }]);
}

function ruleFile(groups: readonly object[]): string {
  return GENERATED_NOTE + stringify({ groups }, { lineWidth: 0 });
}

function alertingRule(alert: Alert): object {
  const dashboard = `${GRAFANA_URL}/d/${alert.panel.dashboardUid}?viewPanel=${alert.panel.panelId}`;
  const variables = alert.labels.map((label) => `&var-${label}={{ $labels.${label} | urlquery }}`);
  return {
    alert: alert.name,
    expr: firing(alert),
    for: alert.for,
    labels: { severity: alert.severity },
    annotations: {
      summary: alert.summary.replaceAll('$VALUE', '$value'),
      description: alert.description.replaceAll('$VALUE', '$value'),
      runbook_url: `${RUNBOOK}#${alert.name.toLowerCase()}`,
      dashboard_url: `${dashboard}${variables.join('')}`,
    },
  };
}
