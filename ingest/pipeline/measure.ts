import { FLAG_BITS } from '../../contract/flags.ts';
import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { SERVER_STAGES, type Stage } from '../../contract/stages.ts';
import type { Metrics } from '../registry.ts';
import { hiddenTaxNs } from './attribute.ts';
import { hasClientHalf, isFinal, isJoined, type RequestRow } from './row.ts';

/** Which label values are accepted; see labels.ts. */
export interface AcceptedLabels {
  has(label: string, value: string): boolean;
}

/**
 * Counts what is new between two states of one request's row. Since the committed row says what had been there, each thing is
 * counted exactly once, by the process whose commit brought it, however often and in whatever order the halves come.
 *
 * On arrival: the direct server TTFT and its stages; the client TTFT; with the first final beacon TPOT, gaps and outcome. At
 * settlement: an echoed server half, the gateway, hidden tax and network, and a stream that never ended. After it: nothing more.
 *
 * @param isLinked whether an exemplar of this trace leads somewhere: where traces are exported and sampled, only to those
 */
export function measure(
  metrics: Metrics,
  accepted: AcceptedLabels,
  before: RequestRow | null,
  after: RequestRow,
  isLinked: (traceId: string) => boolean = () => true,
): void {
  if (before?.settled) return;
  const count = new Counting(metrics, accepted, after, isLinked(after.trace_id));
  const trustworthy = (after.flags & FLAG_BITS.suspended) === 0;

  if (after.server_source === 'direct') count.server(before?.server_source === 'direct' ? before : null);
  if (trustworthy && after.ttft_ms !== null && (before === null || before.ttft_ms === null))
    count.clientTtft(after.ttft_ms);
  if (isFinal(after.status) && !isFinal(before?.status ?? null)) count.outcome(trustworthy);
  if (isJoined(after) && !(before !== null && isJoined(before))) metrics.joined.inc([after.server_source!]);
  if (after.settled) count.settlement(trustworthy);
}

const STAGE_COLUMNS = SERVER_STAGES.map((stage) => [stage, `${stage}_ns`] as const);

class Counting {
  readonly #metrics: Metrics;
  readonly #accepted: AcceptedLabels;
  readonly #row: RequestRow;
  readonly #trace: string | undefined;
  /** The label that nearly every metric has, asked for once; null while it is not known to be accepted. */
  #acceptedModel: string | null = null;

  constructor(metrics: Metrics, accepted: AcceptedLabels, row: RequestRow, isLinked: boolean) {
    this.#metrics = metrics;
    this.#accepted = accepted;
    this.#row = row;
    this.#trace = isLinked ? row.trace_id : undefined;
  }

  #label(metric: string, label: string, value: string | null): string {
    if (value === null || value === UNKNOWN_LABEL) return UNKNOWN_LABEL;
    if (value === OTHER_LABEL || this.#accepted.has(label, value)) return value;
    this.#metrics.labelOverflow.inc([metric, label]);
    return OTHER_LABEL;
  }

  #model(metric: string): string {
    const { model } = this.#row;
    if (this.#acceptedModel !== null) return this.#acceptedModel;
    const label = this.#label(metric, 'model', model);
    if (label === model) this.#acceptedModel = model;
    return label;
  }

  #device(): string {
    return this.#row.device ?? UNKNOWN_LABEL;
  }

  /** @param counted the row whose server half has been counted; what it did not know yet is counted now */
  server(counted: RequestRow | null): void {
    const row = this.#row;
    const { ttft } = this.#metrics;
    if (row.server_ttft_ns !== null && (counted?.server_ttft_ns ?? null) === null) {
      const labels = [
        this.#model(ttft.name),
        this.#label(ttft.name, 'route', row.route),
        this.#label(ttft.name, 'tier', row.tier),
        this.#label(ttft.name, 'variant', row.variant),
        this.#label(ttft.name, 'backend', row.backend),
      ];
      ttft.observe(labels, row.server_ttft_ns / 1e9, this.#trace);
    }
    for (const [stage, column] of STAGE_COLUMNS) {
      if (counted === null || counted[column] === null) this.#stage(stage, row[column]);
    }
  }

  #stage(stage: Stage, durationNs: number | null): void {
    if (durationNs === null) return;
    const { stageDuration } = this.#metrics;
    stageDuration.observe([stage, this.#model(stageDuration.name)], durationNs / 1e9, this.#trace);
  }

  clientTtft(ttftMs: number): void {
    const { ttftClient } = this.#metrics;
    const labels = [
      this.#model(ttftClient.name),
      this.#label(ttftClient.name, 'route', this.#row.route),
      this.#label(ttftClient.name, 'region', this.#row.region),
      this.#device(),
    ];
    ttftClient.observe(labels, ttftMs / 1e3, this.#trace);
  }

  /** With the first final beacon. Gaps that a proxy made say nothing about the model. */
  outcome(trustworthy: boolean): void {
    const row = this.#row;
    const { streams, tpot, tpotStddev, tpotWindow10Stddev, tpotFirst20, streamGapMax, firstScreen, renderLag } =
      this.#metrics;
    streams.inc([row.status!, this.#model(streams.name)]);
    if (!trustworthy) return;
    this.#stage('render', row.render_ns);
    this.#perStream(renderLag, row.render_p50_ms);
    this.#perStream(firstScreen, row.first_screen_ms);
    if ((row.flags & FLAG_BITS.coalesced) !== 0) return;
    if (row.tpot_ms !== null) {
      const labels = [
        this.#model(tpot.name),
        this.#label(tpot.name, 'route', row.route),
        this.#device(),
        this.#label(tpot.name, 'tier', row.tier),
        this.#label(tpot.name, 'variant', row.variant),
      ];
      tpot.observe(labels, row.tpot_ms / 1e3, this.#trace);
    }
    this.#perStream(tpotStddev, row.gap_stddev_ms);
    this.#perStream(tpotWindow10Stddev, row.window10_stddev_max_ms);
    this.#perStream(tpotFirst20, row.first20_mean_ms);
    this.#perStream(streamGapMax, row.gap_max_ms);
  }

  #perStream(metric: Metrics['streamGapMax'], valueMs: number | null): void {
    if (valueMs !== null) metric.observe([this.#model(metric.name), this.#device()], valueMs / 1e3, this.#trace);
  }

  settlement(trustworthy: boolean): void {
    const row = this.#row;
    const { settled, streams, hiddenTax, clockAnomalies } = this.#metrics;
    if (row.server_source === 'echo') this.server(null);
    this.#stage('gateway', row.gateway_ns);
    if (row.status === 'streaming') streams.inc([row.status, this.#model(streams.name)]);
    const taxNs = hiddenTaxNs(row);
    if (trustworthy && taxNs !== null) {
      if ((row.flags & FLAG_BITS.clock_anomaly) !== 0) clockAnomalies.inc([]);
      else this.#stage('network', row.network_ns);
      if (taxNs >= 0) {
        const labels = [this.#model(hiddenTax.name), this.#label(hiddenTax.name, 'region', row.region)];
        hiddenTax.observe(labels, taxNs / 1e9, this.#trace);
      }
    }
    settled.inc([hasClientHalf(row) ? 'yes' : 'no', row.server_source ?? 'none']);
  }
}
