import { askPrometheus } from '../dashboards/runner/liveSources.ts';

/** An alert that fires, and where its own link leads. */
export interface FiringAlert {
  readonly name: string;
  readonly severity: string;
  readonly summary: string;
  /** A path of the preview: the alert's panel. */
  readonly path: string;
}

interface PrometheusAlert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The alerts that fire now, the most severe first; none without a Prometheus. */
export async function readAlerts(prometheusUrl: string | null): Promise<FiringAlert[]> {
  if (prometheusUrl === null) return [];
  const { alerts } = await askPrometheus<{ alerts: readonly PrometheusAlert[] }>(prometheusUrl, 'alerts');
  return alerts
    .filter(({ state }) => state === 'firing')
    .map(({ labels, annotations }) => ({
      name: labels['alertname'] ?? '',
      severity: labels['severity'] ?? '',
      summary: annotations['summary'] ?? '',
      path: pathOf(annotations['dashboard_url']),
    }))
    .toSorted((a, b) => a.severity.localeCompare(b.severity) || a.name.localeCompare(b.name));
}

/** The link names Grafana's address; its path is the same here. */
function pathOf(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return '/';
  const { pathname, search } = new URL(url);
  return pathname + search;
}
