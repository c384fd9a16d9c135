import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Companions } from '../native/companions.ts';

export interface LinkFacts {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly token: string;
  readonly companions: Pick<Companions, 'prometheusUrl' | 'grafanaUrl'>;
  /** A request to look at; null while there is none. */
  readonly traceId: string | null;
  readonly dashboards: string;
  /** The chat page; null where there is none. */
  readonly pageUrl: string | null;
  readonly logFolder: string;
}

const DASHBOARD_FOLDER = 'provisioning/grafana/dashboards';

/** The generated dashboards, or how to generate them. */
export function findDashboards(): string {
  try {
    const files = readdirSync(fileURLToPath(new URL(`../${DASHBOARD_FOLDER}`, import.meta.url)));
    const [first, ...others] = files.filter((file) => file.endsWith('.json')).sort();
    if (first !== undefined)
      return `${DASHBOARD_FOLDER}/${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;
  } catch {
    // Not generated yet.
  }
  return 'npm run dashboards writes them';
}

/** What to open next. The command is cut where a shell lets it be cut, so that it can be copied from 80 columns. */
export function renderLinks(facts: LinkFacts): string[] {
  const { publicUrl, adminUrl, token, companions, traceId, dashboards, pageUrl, logFolder } = facts;
  const request =
    traceId === null
      ? ['  request     with the first finished one']
      : [
          `  request     curl -H 'Authorization: Bearer ${token}' \\`,
          `              ${publicUrl}/v1/requests/${traceId}`,
          `  its logs    grep -h ${traceId} ${logFolder}/*.log`,
        ];
  const { prometheusUrl, grafanaUrl } = companions;
  return [
    'open next',
    ...(pageUrl === null ? [] : [`  try it      ${pageUrl}`]),
    `  metrics     ${adminUrl}/metrics`,
    ...(prometheusUrl === null ? [] : [`  prometheus  ${prometheusUrl}`]),
    ...request,
    `  dashboards  ${grafanaUrl ?? dashboards}`,
  ];
}
