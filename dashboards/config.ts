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

/** The job of prometheus.yml that scrapes the ingest: the label `job` of its series. */
export const INGEST_JOB = 'ingest';

export const FOLDER = { title: 'Firsttoken', uid: 'firsttoken' } as const;

/** Where a browser reaches Grafana, for links that cannot be relative. */
export const GRAFANA_URL = 'http://localhost:3000';

/** Anchors are the alerts' names in lower case. */
export const RUNBOOK = 'docs/runbook.md';

/** Scrape interval of prometheus.yml and `timeInterval` of the data source. Rates need four scrapes. */
export const SCRAPE_INTERVAL_SECONDS = 5;

/** Every dashboard: its uid, its title, and its panels' ids, rows included. */
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
    courseRow: 60,
    ttftServerCurves: 61,
    ttftClientCurves: 62,
    ttftOverRatios: 63,
    tpotCurves: 64,
    hiddenTax: 65,
    firstScreen: 66,
    completionByBand: 67,
    joinCoverage: 68,
  },
} as const;

export const WHERE_AND_WHEN = {
  uid: 'where-and-when',
  title: 'Where and when',
  panelIds: { cellsRow: 1, worstCells: 2, worstHours: 3, devicesRow: 10, renderLag: 11, connections: 12, regions: 13 },
} as const;

export const SLOW_REQUESTS = {
  uid: 'slow-requests',
  title: 'Slow requests',
  panelIds: { scatter: 1, waterfall: 2, shares: 3, slowest: 4 },
} as const;

export const REQUEST = {
  uid: 'request',
  title: 'Request',
  panelIds: { facts: 1, stages: 2, subStages: 3, arrivals: 4, gaps: 5, trace: 6, logs: 7 },
} as const;

/** A panel per stage besides: its id is 100 plus the stage's place in the order. */
export const STAGES_PAGE = {
  uid: 'stages',
  title: 'Stages',
  panelIds: {
    shareRow: 1,
    shares: 2,
    inference: 3,
    summary: 4,
    engineRow: 10,
    queueAndBatch: 11,
    subStages: 12,
    eachRow: 20,
  },
  firstStagePanelId: 100,
} as const;

export const VARIANTS = {
  uid: 'variants',
  title: 'Variants',
  panelIds: { verdict: 1, ttft: 2, tpot: 3, settings: 4, completion: 5, history: 6 },
} as const;

export const GPU_BACKEND = {
  uid: 'gpu-backend',
  title: 'GPU backend',
  panelIds: {
    readingRow: 1,
    idleButSlow: 2,
    ttft: 3,
    gpuUtil: 4,
    engineActive: 5,
    hostCpu: 6,
    engineRow: 20,
    engineTtft: 21,
    requests: 22,
    kvCache: 23,
    cacheHits: 24,
  },
} as const;

export const INGEST_HEALTH = {
  uid: 'ingest-health',
  title: 'Ingest health',
  panelIds: {
    up: 1,
    storeUp: 2,
    spool: 3,
    coverage: 4,
    events: 10,
    rejected: 11,
    commit: 12,
    waiting: 13,
    retries: 14,
    coverageCurve: 15,
    lag: 16,
    memory: 17,
    overflow: 18,
    anomalies: 19,
  },
} as const;

/** In the order in which they are linked. */
export const DASHBOARDS = [
  FIRST_TOKEN,
  WHERE_AND_WHEN,
  SLOW_REQUESTS,
  REQUEST,
  STAGES_PAGE,
  VARIANTS,
  GPU_BACKEND,
  INGEST_HEALTH,
] as const;

/** Folders of generated files; nothing else may lie in the first. */
export const DASHBOARD_FOLDER = 'provisioning/grafana/dashboards';
export const PROMETHEUS_RULES_FILE = 'provisioning/prometheus/rules/firsttoken.yaml';
/** Alerts that ship paused. Prometheus has no such state, so they lie where its configuration does not look. */
export const PAUSED_RULES_FILE = 'provisioning/prometheus/rules-paused/firsttoken.yaml';
export const GRAFANA_ALERTING_FILE = 'provisioning/grafana/alerting/firsttoken.yaml';
