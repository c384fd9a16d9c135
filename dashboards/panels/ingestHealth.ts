import { METRICS } from '../../contract/metrics.ts';
import { FOREIGN_METRICS } from '../foreignMetrics.ts';
import {
  EVERY_STORE_UP,
  processGauge,
  rateBy,
  rateOfAll,
  replicasUp,
  SPOOL_BYTES,
  WAITING_EVENTS,
} from '../queries/ingestHealth.ts';
import { joinCoverage as joinCoverageExpression } from '../queries/joinCoverage.ts';
import { curveQuery, instantQuery } from '../queries/prometheusQuery.ts';
import { quantileCurves } from '../queries/quantileCurves.ts';
import { COVERAGE_THRESHOLD } from '../rules/thresholds.ts';
import { curves } from './curves.ts';
import { numberStat } from './figureStat.ts';
import { fallingSteps, thresholdSteps } from './thresholdSteps.ts';

const EVENTS_PER_SECOND = 'reqps';

export function up() {
  return numberStat(
    {
      title: 'Replicas up',
      unit: 'short',
      description:
        'Instances of the ingest that answered the last scrape. Good: as many as you run. If it is 0, nothing is measured and every other panel stands still: the log of the ' +
        'container says why it ended; docs/runbook.md lists the causes.',
    },
    instantQuery(replicasUp()),
  ).thresholds(fallingSteps({ watch: 1, bad: 1 }));
}

export function storeUp() {
  return numberStat(
    {
      title: 'PostgreSQL reachable',
      unit: 'short',
      description:
        'Whether every replica reached PostgreSQL at its last try: 1 yes, 0 no. Good: 1. If it is 0, events are spooled on disk or refused with 503 until the database is back; ' +
        'see "PostgreSQL is away" in docs/runbook.md.',
    },
    instantQuery(EVERY_STORE_UP),
  ).thresholds(fallingSteps({ watch: 1, bad: 1 }));
}

export function spool() {
  return numberStat(
    {
      title: 'Spool',
      unit: 'bytes',
      description:
        'Acknowledged events that wait on disk for PostgreSQL. Good: 0, or falling after an outage. If it grows, the database is away or too slow; at SPOOL_MAX_BYTES the ' +
        'ingest refuses new events, and clients keep them as long as they can.',
    },
    instantQuery(SPOOL_BYTES),
  ).thresholds(thresholdSteps({ watch: 1, bad: 64 * 1024 * 1024 }));
}

export function coverage() {
  return numberStat(
    {
      title: 'Join coverage, last hour',
      unit: 'percentunit',
      description:
        'Share of the settled requests with a client half that have a server half too. Good: over 90 %. If it is less, look at the rejects below, at the middleware of each backend, and at ' +
        'whether the id header reaches the browser (CORS).',
    },
    instantQuery(`${joinCoverageExpression('1h')} >= 0`),
  ).thresholds(fallingSteps(COVERAGE_THRESHOLD));
}

export function events() {
  return curves(
    {
      title: 'Events taken',
      unit: EVENTS_PER_SECOND,
      description:
        'Events per second that are durable, by endpoint. Good: in step with your traffic. If one kind stops while the others go on, that half is lost: beacons are the SDK in the page, ' +
        'server_timing the middleware, gateway_log the collector.',
    },
    curveQuery('A', rateBy(METRICS.events, 'kind'), '{{kind}}'),
  );
}

export function rejected() {
  return curves(
    {
      title: 'Refused, by reason',
      unit: EVENTS_PER_SECOND,
      description:
        'Events and requests per second that were refused. Good: none. If it is malformed_timing_trace or not_monotonic, a middleware is faulty; unauthorized or forbidden_origin, the ' +
        'configuration; rate_limited, a client in a loop; store_unavailable, the database. docs/http-api.md explains each.',
    },
    curveQuery('A', rateBy(METRICS.rejected, 'kind', 'reason'), '{{kind}} {{reason}}'),
  );
}

export function commit() {
  return curves(
    {
      title: 'Commit time',
      unit: 's',
      description:
        'Time of one flush, from its first statement to its commit. Good: p99 under 0.1 s. If it is more, the disk of PostgreSQL is slow or rows are locked; while it is over a second ' +
        'events gather in memory, and at 20,000 the ingest answers 503.',
    },
    ...quantileCurves(METRICS.commit, [0.5, 0.99]),
  );
}

export function waiting() {
  return curves(
    {
      title: 'Events waiting',
      unit: 'short',
      description:
        'Events gathered for the next flush, of all replicas. Good: a low saw tooth. If it climbs, more comes in than the database takes: see the commit time; add replicas only if ' +
        'the database has room.',
    },
    curveQuery('A', WAITING_EVENTS, 'events'),
  );
}

export function retries() {
  return curves(
    {
      title: 'Flushes tried again',
      unit: EVENTS_PER_SECOND,
      description:
        'Flushes per second that were tried again, by reason. Good: none, or a conflict between replicas now and then, which is harmless. If connection is steady, the network or a ' +
        'pool in between drops connections.',
    },
    curveQuery('A', rateBy(METRICS.flushRetries, 'reason'), '{{reason}}'),
  );
}

export function coverageCurve() {
  return curves(
    {
      title: 'Joined, by source of the server half',
      unit: EVENTS_PER_SECOND,
      description:
        'Requests per second whose halves met: direct is posted by the server, echo brought along by the client. Good: nearly all direct. If echo grows, the middleware cannot post: wrong token, or no way ' +
        'to the ingest; echoes know less and are never preferred.',
    },
    curveQuery('A', rateBy(METRICS.joined, 'source'), '{{source}}'),
  );
}

export function lag() {
  return curves(
    {
      title: 'Event loop lag p99',
      unit: 's',
      description:
        "How late the ingest's process gets to its work, of each replica. Good: under 0.05 s. If it is more, the CPU is full: add a replica or a core. Above 0.2 s answers are late for everyone.",
    },
    curveQuery('A', processGauge(FOREIGN_METRICS.eventLoopLagP99), '{{instance}}'),
  );
}

export function memory() {
  return curves(
    {
      title: 'Memory',
      unit: 'bytes',
      description:
        'Memory of the process and its heap, of each replica. Good: flat after the first hour. If it climbs for days, a label has many values (see the overflow below) or there is a leak: take a heap ' +
        'snapshot before you restart it.',
    },
    curveQuery('A', processGauge(FOREIGN_METRICS.residentBytes), 'process {{instance}}'),
    curveQuery('B', processGauge(FOREIGN_METRICS.heapUsedBytes), 'heap {{instance}}'),
  );
}

export function overflow() {
  return curves(
    {
      title: 'Samples counted as other',
      unit: EVENTS_PER_SECOND,
      description:
        'Samples per second whose label value was replaced by "other", because a cap is reached or the value is not accepted. Good: none. If it is steady, someone sends ids or texts as ' +
        'a label: the metric and the label are named. Stored requests keep what was said.',
    },
    curveQuery('A', rateBy(METRICS.labelOverflow, 'metric', 'label'), '{{metric}} {{label}}'),
  );
}

export function anomalies() {
  return curves(
    {
      title: 'Clock anomalies',
      unit: EVENTS_PER_SECOND,
      description:
        'Joined requests per second whose client saw its first token sooner than the server says it left. Good: none. If it is steady, stamps of two processes or machines were mixed in one header; ' +
        'such requests are flagged and left out of the hidden tax.',
    },
    curveQuery('A', rateOfAll(METRICS.clockAnomalies), 'requests'),
  );
}
