import type { Companions } from '../native/companions.ts';

export interface LinkFacts {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly token: string;
  readonly companions: Pick<Companions, 'prometheusUrl' | 'grafanaUrl'>;
  /** A request to look at; null while there is none. */
  readonly traceId: string | null;
  /** The preview of the dashboards. */
  readonly previewUrl: string;
  /** The chat page; null where there is none. */
  readonly pageUrl: string | null;
  readonly logFolder: string;
}

/** What to open next. The command is cut where a shell lets it be cut, so that it can be copied from 80 columns. */
export function renderLinks(facts: LinkFacts): string[] {
  const { publicUrl, adminUrl, token, companions, traceId, previewUrl, pageUrl, logFolder } = facts;
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
    `  dashboards  ${previewUrl}/?from=now-15m`,
    ...(grafanaUrl === null ? [] : [`  grafana     ${grafanaUrl}`]),
    ...(pageUrl === null ? [] : [`  try it      ${pageUrl}`]),
    `  metrics     ${adminUrl}/metrics`,
    ...(prometheusUrl === null ? [] : [`  prometheus  ${prometheusUrl}`]),
    ...request,
  ];
}
