import { METRICS } from '../../contract/metrics.ts';
import { INGEST_HEALTH, INGEST_JOB } from '../config.ts';
import { FOREIGN_METRICS } from '../foreignMetrics.ts';
import { joinCoverage } from '../queries/joinCoverage.ts';
import type { Alert } from './alert.ts';
import { ENOUGH_SETTLED, EVENTS_BEFORE } from './floors.ts';
import { COVERAGE_THRESHOLD } from './thresholds.ts';

const panel = (panelId: number) => ({ dashboardUid: INGEST_HEALTH.uid, panelId });
const ids = INGEST_HEALTH.panelIds;
const UP = `${FOREIGN_METRICS.up.name}{job="${INGEST_JOB}"}`;

/** Whether the measuring itself works; they ship paused. */
export const INGEST_ALERTS: readonly Alert[] = [
  {
    name: 'JoinCoverageLow',
    uid: 'join-coverage-low',
    value: joinCoverage('1h'),
    comparison: '<',
    threshold: COVERAGE_THRESHOLD.bad,
    floor: ENOUGH_SETTLED,
    for: '15m',
    severity: 'ticket',
    paused: true,
    labels: [],
    summary: 'Only {{ humanizePercentage $VALUE }} of the requests are joined',
    description:
      'Over the last hour one client half in ten or more had no server half: attribution speaks for a part of the requests only.',
    panel: panel(ids.coverage),
  },
  {
    name: 'IngestDown',
    uid: 'ingest-down',
    // A target that is not configured any more is down as well.
    value: `(min(${UP}) or vector(0))`,
    comparison: '<',
    threshold: 1,
    for: '2m',
    severity: 'page',
    paused: true,
    labels: [],
    summary: 'A replica of the ingest does not answer',
    description:
      'Prometheus cannot scrape a replica of the ingest, or knows none: nothing is measured there, and every other alert is silent.',
    panel: panel(ids.up),
  },
  {
    name: 'NoEvents',
    uid: 'no-events',
    value: `sum(increase(${METRICS.events.name}[15m]))`,
    comparison: '<',
    threshold: 1,
    floor: EVENTS_BEFORE,
    for: '5m',
    severity: 'ticket',
    paused: true,
    labels: [],
    summary: 'No events for a quarter of an hour',
    description: 'The ingest answers, but neither browsers nor servers reach it, though they did in the hour before.',
    panel: panel(ids.events),
  },
];
