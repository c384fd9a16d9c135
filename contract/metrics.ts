/**
 * Every metric, once. The ingest registers what stands here; dashboards and rules take their names, labels and edges from here.
 *
 * Edges of the two main grids keep every edge of the OpenTelemetry GenAI grids and those of vLLM in the range that users wait, so that
 * our histograms can be laid beside an engine's own, and add those that alert thresholds need: each threshold is an edge.
 */
export interface HistogramDefinition {
  readonly name: string;
  readonly type: 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in seconds, rising, without +Inf. */
  readonly buckets: readonly number[];
}

export interface CounterDefinition {
  readonly name: string;
  readonly type: 'counter';
  readonly help: string;
  readonly labels: readonly string[];
}

export interface GaugeDefinition {
  readonly name: string;
  readonly type: 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
}

export type MetricDefinition = HistogramDefinition | CounterDefinition | GaugeDefinition;

/** TTFT, server and client alike: different grids would make their difference negative. Up to 160 s for queued long prompts. */
export const TTFT_BUCKETS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 1, 1.5, 2, 2.5, 3, 5,
  7.5, 10, 20, 40, 80, 160,
] as const;

/** Time per token. 0.08 and 0.11 are the VIP and normal budgets; 0.2 to 0.3 is a reader's pace, over 0.4 stutters. */
export const TPOT_BUCKETS = [
  0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.06, 0.075, 0.08, 0.1, 0.11, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5,
  10,
] as const;

/** One stage: from serialising in fractions of a millisecond to a queue of minutes. */
export const STAGE_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1,
  1.5, 2, 3, 5, 10, 20, 40, 80, 160,
] as const;

/** Standard deviation of gaps. 0.015 is the threshold of a steady stream. */
export const TPOT_STDDEV_BUCKETS = [
  0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** Longest gap of a stream: a pause is felt from about 0.4 s, and a stall can last minutes. */
export const GAP_BUCKETS = [
  0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 20, 40, 80, 160,
] as const;

/** Arrival of output token 50: TTFT plus 49 tokens. */
export const FIRST_SCREEN_BUCKETS = [
  0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5, 10, 15, 20, 30, 40, 60, 80, 160,
] as const;

/** From a token's arrival to its paint: one frame is 0.0167. */
export const RENDER_BUCKETS = [
  0.001, 0.004, 0.008, 0.0167, 0.0334, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10,
] as const;

/** One commit: from a fast disk's flush to a store in trouble. */
export const COMMIT_BUCKETS = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30,
] as const;

function histogram(
  name: string,
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
): HistogramDefinition {
  return { name, type: 'histogram', help, labels, buckets };
}
function counter(name: string, help: string, labels: readonly string[] = []): CounterDefinition {
  return { name, type: 'counter', help, labels };
}
function gauge(name: string, help: string, labels: readonly string[] = []): GaugeDefinition {
  return { name, type: 'gauge', help, labels };
}

export const METRICS = {
  ttft: histogram(
    'ttft_seconds',
    'Server time to first token: from the completely received request to the first token handed out.',
    ['model', 'route', 'tier', 'variant', 'backend'],
    TTFT_BUCKETS,
  ),
  ttftClient: histogram(
    'ttft_client_seconds',
    'Client time to first token: from the fetch call to the first generated token.',
    ['model', 'route', 'region', 'device'],
    TTFT_BUCKETS,
  ),
  tpot: histogram(
    'tpot_seconds',
    'Time per output token after the first event, as the client saw it.',
    ['model', 'route', 'device', 'tier', 'variant'],
    TPOT_BUCKETS,
  ),
  stageDuration: histogram(
    'stage_duration_seconds',
    'Duration of one stage on the way to the first token.',
    ['stage', 'model'],
    STAGE_BUCKETS,
  ),
  hiddenTax: histogram(
    'hidden_tax_seconds',
    'Client TTFT minus server TTFT of joined requests: what the server cannot see.',
    ['model', 'region'],
    TTFT_BUCKETS,
  ),
  tpotStddev: histogram(
    'tpot_stddev_seconds',
    'Standard deviation of all gaps of one stream.',
    ['model', 'device'],
    TPOT_STDDEV_BUCKETS,
  ),
  tpotWindow10Stddev: histogram(
    'tpot_window10_stddev_seconds',
    'Standard deviation of the worst ten neighbouring gaps of one stream.',
    ['model', 'device'],
    TPOT_STDDEV_BUCKETS,
  ),
  tpotFirst20: histogram(
    'tpot_first20_seconds',
    'Time per output token over the first 20 tokens of one stream.',
    ['model', 'device'],
    TPOT_BUCKETS,
  ),
  streamGapMax: histogram('stream_gap_max_seconds', 'Longest gap of one stream.', ['model', 'device'], GAP_BUCKETS),
  firstScreen: histogram(
    'first_screen_seconds',
    'Arrival of output token 50, from the fetch call.',
    ['model', 'device'],
    FIRST_SCREEN_BUCKETS,
  ),
  renderLag: histogram(
    'render_lag_seconds',
    'Median lag of one stream between the arrival of a token and its paint.',
    ['model', 'device'],
    RENDER_BUCKETS,
  ),
  streams: counter('streams_total', 'Streams by how they ended, counted with their first final beacon.', [
    'status',
    'model',
  ]),
  events: counter('firsttoken_ingest_events_total', 'Events taken: durable when counted.', ['kind']),
  rejected: counter('firsttoken_ingest_rejected_total', 'Events and requests refused, by reason.', ['kind', 'reason']),
  joined: counter(
    'firsttoken_joined_total',
    'Requests whose client and server halves have met, by the source of the server half.',
    ['source'],
  ),
  settled: counter(
    'firsttoken_settled_total',
    'Settled requests by which halves they have; coverage is the share with client="yes" that has a server half.',
    ['client', 'server'],
  ),
  clockAnomalies: counter(
    'firsttoken_clock_anomalies_total',
    'Joined requests whose client TTFT is shorter than what server and gateway account for; their network is not observed.',
  ),
  commit: histogram(
    'firsttoken_commit_seconds',
    'Time of one flush, from its first statement to its commit.',
    [],
    COMMIT_BUCKETS,
  ),
  flushRetries: counter('firsttoken_flush_retries_total', 'Flushes tried again, by reason.', ['reason']),
  waitingEvents: gauge('firsttoken_waiting_events', 'Events gathered for the next flush.'),
  storeUp: gauge('firsttoken_store_up', 'Whether PostgreSQL answered last: 1 yes, 0 no.'),
  spoolBytes: gauge('firsttoken_spool_bytes', 'Bytes of acknowledged events that wait on disk for PostgreSQL.'),
  spoolAge: gauge('firsttoken_spool_oldest_seconds', 'Age of the oldest file of the spool; 0 when it is empty.'),
  spooled: counter('firsttoken_spooled_total', 'Events that went to the spool.', []),
  spoolDrained: counter('firsttoken_spool_drained_total', 'Events of the spool that PostgreSQL has taken.', []),
  spoolDamaged: counter('firsttoken_spool_damaged_total', 'Damaged records of the spool that were passed over.', []),
  labelOverflow: counter(
    'firsttoken_label_overflow_total',
    'Samples whose label value was replaced by "other" because a cap was reached or the value is not an accepted one.',
    ['metric', 'label'],
  ),
  spansExported: counter('firsttoken_spans_exported_total', 'Spans of requests that the collector has taken.'),
  spansDropped: counter('firsttoken_spans_dropped_total', 'Spans of requests that were not exported, by reason.', [
    'reason',
  ]),
  waitingSpans: gauge(
    'firsttoken_waiting_spans',
    'Spans of requests that wait for the collector, or are on their way.',
  ),
} as const satisfies Record<string, MetricDefinition>;

/** The service's endpoints that take events: the `kind` label. */
export type EventKind = 'beacon' | 'server_timing' | 'gateway_log';

/** The label value of what nobody named, and of what is beyond a cap. */
export const UNKNOWN_LABEL = 'unknown';
export const OTHER_LABEL = 'other';

/** A bound as both Prometheus 2 and 3 keep it: whole numbers with `.0`, so that one series has one name everywhere. */
export function formatLe(bound: number): string {
  if (bound === Number.POSITIVE_INFINITY) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

/** Recording rules: the five core figures, the long tail, and the client's view of the first. */
export const RECORDING_RULES = [
  'ttft_p95',
  'tpot_p90',
  'ttft_over_1s_ratio',
  'tpot_stddev',
  'stream_gap_max',
  'ttft_p999',
  'tpot_p999',
  'ttft_over_2s_ratio',
  'ttft_client_p95',
] as const;
