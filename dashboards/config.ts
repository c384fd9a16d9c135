/**
 * What dashboards, rules and provisioning agree on: stable uids, versions, folders. A uid or panel id never changes once it is
 * published, since bookmarks, alert links and Grafana's own tables hold it.
 */

/** The Grafana that compose.yaml runs. Panels carry it, so that Grafana does not migrate them from an older form. */
export const GRAFANA_VERSION = '13.2.1';

export const DATA_SOURCES = {
  prometheus: { uid: 'prometheus', type: 'prometheus', name: 'Prometheus' },
  postgres: { uid: 'pg', type: 'grafana-postgresql-datasource', name: 'PostgreSQL' },
  tempo: { uid: 'tempo', type: 'tempo', name: 'Tempo' },
  loki: { uid: 'loki', type: 'loki', name: 'Loki' },
} as const;

export const FOLDER = { title: 'Firsttoken', uid: 'firsttoken' } as const;

/** Where a browser reaches Grafana and the ingest's public port, for links that cannot be relative. */
export const GRAFANA_URL = 'http://localhost:3000';
export const INGEST_URL = 'http://localhost:8080';

/** Anchors are the alerts' names in lower case. */
export const RUNBOOK = 'docs/runbook.md';

/** Scrape interval of prometheus.yml and `timeInterval` of the data source. Rates need four scrapes. */
export const SCRAPE_INTERVAL_SECONDS = 5;

export const FIRST_TOKEN = {
  uid: 'first-token',
  title: 'First token',
  panelIds: {
    figuresRow: 1,
    ttftP95: 2,
    tpotP90: 3,
    ttftOver1sRatio: 4,
    tpotStddev: 5,
    streamGapMax: 6,
    ttftP999: 7,
    longestGap: 8,
    requestCount: 9,
    spreadRow: 20,
    ttftHeatmap: 21,
    ttftTpotScatter: 22,
    clientTtftByHour: 23,
    causesRow: 40,
    attributionWaterfall: 41,
    slowestRequests: 42,
  },
} as const;

/** Folders of generated files; nothing else may lie in the first. */
export const DASHBOARD_FOLDER = 'provisioning/grafana/dashboards';
export const PROMETHEUS_RULES_FILE = 'provisioning/prometheus/rules/firsttoken.yaml';
export const GRAFANA_ALERTING_FILE = 'provisioning/grafana/alerting/firsttoken.yaml';
