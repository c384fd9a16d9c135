import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { DASHBOARD_FOLDER, GRAFANA_ALERTING_FILE, PAUSED_RULES_FILE, PROMETHEUS_RULES_FILE } from './config.ts';
import { firstToken } from './firstToken.ts';
import { gpuBackend } from './gpuBackend.ts';
import { ingestHealth } from './ingestHealth.ts';
import { oneRequest } from './oneRequest.ts';
import { grafanaAlerting } from './rules/grafanaAlerting.ts';
import { pausedPrometheusRules, prometheusRules } from './rules/prometheusRules.ts';
import { slowRequests } from './slowRequests.ts';
import { stagesPage } from './stagesPage.ts';
import { variants } from './variants.ts';
import { whereAndWhen } from './whereAndWhen.ts';

/** Every dashboard. A new one is a file beside firstToken.ts and a line here. */
export function dashboards(): Dashboard[] {
  return [
    firstToken(),
    whereAndWhen(),
    slowRequests(),
    oneRequest(),
    stagesPage(),
    variants(),
    gpuBackend(),
    ingestHealth(),
  ];
}

/** Text of every generated file, by its path from the repository's root. */
export function artefacts(): Map<string, string> {
  const files = new Map<string, string>();
  for (const dashboard of dashboards()) {
    files.set(`${DASHBOARD_FOLDER}/${dashboard.uid}.json`, `${JSON.stringify(dashboard, null, 2)}\n`);
  }
  files.set(PROMETHEUS_RULES_FILE, prometheusRules());
  files.set(PAUSED_RULES_FILE, pausedPrometheusRules());
  files.set(GRAFANA_ALERTING_FILE, grafanaAlerting());
  return files;
}
