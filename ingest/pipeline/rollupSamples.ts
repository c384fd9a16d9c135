import { FLAG_BITS } from '../../contract/flags.ts';
import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { bucketOf, ROLLUP_STAGES, type RollupGrainName, ttftBandOf } from '../../contract/rollups.ts';
import { hiddenTaxNs } from './attribute.ts';
import { isFinal, type RequestRow } from './row.ts';

/** A row has no such value, or one that does not count. */
export const NO_BUCKET = -1;

/** Per grain and series, in the order of the contract: the bucket in which a row counts, or {@link NO_BUCKET}. */
export type RowBuckets = Readonly<Record<RollupGrainName, Int16Array>>;

export function newRowBuckets(): RowBuckets {
  return {
    client: new Int16Array(6),
    route: new Int16Array(4),
    stage: new Int16Array(ROLLUP_STAGES.length),
    outcome: new Int16Array(1),
  };
}

/**
 * All that one row adds to the rollups. It is a function of the stored row and of nothing else, so that whoever reads the row
 * later, on whichever replica, finds the same and can take it away again.
 *
 * The rules are those of the metrics (measure.ts), applied to the state that the row has now: what a suspended machine measured
 * counts nowhere; gaps, first screen and painting count once the stream has ended; what a proxy held back has no TPOT and no
 * gaps; a negative hidden tax counts nowhere.
 *
 * @param into is overwritten: this runs several times per event, so it makes nothing new
 */
export function bucketRow(row: RequestRow, into: RowBuckets): void {
  const { client, route, stage, outcome } = into;
  const counts = (row.flags & FLAG_BITS.suspended) === 0;
  const ended = counts && isFinal(row.status);
  const steady = ended && (row.flags & FLAG_BITS.coalesced) === 0;
  const agreed = counts && (row.flags & FLAG_BITS.clock_anomaly) === 0;
  // Without the server's account the whole of the client's wait is unattributed, which says nothing about a stage.
  const served = counts && row.server_ttft_ns !== null;
  const taxNs = hiddenTaxNs(row);

  client[0] = fromMs(row.ttft_ms, counts);
  client[1] = fromReal(row.tpot_ms, steady);
  client[2] = fromReal(row.gap_max_ms, steady);
  client[3] = fromReal(row.first_screen_ms, ended);
  client[4] = fromReal(row.render_p50_ms, ended);
  client[5] = fromNs(taxNs, counts && taxNs !== null && taxNs >= 0);

  route[0] = fromNs(row.server_ttft_ns, counts);
  route[1] = client[0];
  route[2] = client[1];
  route[3] = client[3];

  stage[0] = fromNs(row.gateway_ns, counts);
  stage[1] = fromNs(row.receive_ns, counts);
  stage[2] = fromNs(row.preprocess_ns, counts);
  stage[3] = fromNs(row.kv_load_ns, counts);
  stage[4] = fromNs(row.queue_ns, counts);
  stage[5] = fromNs(row.first_token_ns, counts);
  stage[6] = fromNs(row.serialize_ns, counts);
  stage[7] = fromNs(row.send_ns, counts);
  stage[8] = fromNs(row.network_ns, agreed);
  stage[9] = fromNs(row.render_ns, ended);
  stage[10] = fromNs(row.unattributed_ns, served);

  // `requests` has no value, so its only bucket is 0.
  outcome[0] = counts ? 0 : NO_BUCKET;
}

/** Values of a grain's dimensions, in the order of the contract. */
export function combinationOf(grain: RollupGrainName, row: RequestRow): string[] {
  switch (grain) {
    case 'client':
      return [word(row.model), word(row.region), word(row.device)];
    case 'route':
      return [word(row.model), word(row.route), word(row.variant), word(row.tier)];
    case 'stage':
      return [word(row.model)];
    case 'outcome':
      return [word(row.variant), word(row.status), word(ttftBandOf(row.ttft_ms))];
  }
}

/** Whether two states of a row count in the same combination; cheaper than making both. */
export function sameCombination(grain: RollupGrainName, one: RequestRow, other: RequestRow): boolean {
  switch (grain) {
    case 'client':
      return one.model === other.model && one.region === other.region && one.device === other.device;
    case 'route':
      return (
        one.model === other.model &&
        one.route === other.route &&
        one.variant === other.variant &&
        one.tier === other.tier
      );
    case 'stage':
      return one.model === other.model;
    case 'outcome':
      return (
        one.variant === other.variant &&
        one.status === other.status &&
        ttftBandOf(one.ttft_ms) === ttftBandOf(other.ttft_ms)
      );
  }
}

/** One text per combination; words from outside contain no NUL. */
export function combinationKey(values: readonly string[]): string {
  return values.join('\0');
}

function word(value: string | null): string {
  return value ?? UNKNOWN_LABEL;
}

function fromMs(valueMs: number | null, counts: boolean): number {
  return counts && valueMs !== null ? bucketOf(valueMs) : NO_BUCKET;
}

function fromNs(durationNs: number | null, counts: boolean): number {
  return counts && durationNs !== null ? bucketOf(durationNs / 1e6) : NO_BUCKET;
}

/** Columns of type `real`: what was just measured is rounded as the column rounds it. */
function fromReal(valueMs: number | null, counts: boolean): number {
  return counts && valueMs !== null ? bucketOf(Math.fround(valueMs)) : NO_BUCKET;
}
