import { FLAG_BITS } from '../../contract/flags.ts';
import { UNKNOWN_LABEL } from '../../contract/metrics.ts';
import { bucketOf, ROLLUP_GRAINS, ROLLUP_STAGES, type RollupGrainName, ttftBandOf } from '../../contract/rollups.ts';
import { hiddenTaxNs } from './attribute.ts';
import { isFinal, type RequestRow } from './row.ts';

/** What one row adds to the histograms of one combination of dimensions. */
export interface RollupSamples {
  readonly grain: RollupGrainName;
  /** Values of the grain's dimensions, in the order of the contract. */
  readonly values: readonly string[];
  /** Per series of the grain, in the order of the contract: the bucket, or null where the row has no such value. */
  readonly buckets: readonly (number | null)[];
}

/**
 * All that one row adds to the rollups. It is a function of the stored row and of nothing else, so that whoever reads the row
 * later, on whichever replica, finds the same and can take it away again.
 *
 * The rules are those of the metrics (measure.ts), applied to the state that the row has now: what a suspended machine measured
 * counts nowhere; gaps, first screen and painting count once the stream has ended; what a proxy held back has no TPOT and no
 * gaps; a negative hidden tax counts nowhere.
 */
export function rollupSamples(row: RequestRow): RollupSamples[] {
  if ((row.flags & FLAG_BITS.suspended) !== 0) return [];
  const ended = isFinal(row.status);
  const even = ended && (row.flags & FLAG_BITS.coalesced) === 0;
  const taxNs = hiddenTaxNs(row);
  const ttftClient = fromMs(row.ttft_ms);
  const tpot = even ? fromReal(row.tpot_ms) : null;
  const firstScreen = ended ? fromReal(row.first_screen_ms) : null;
  const model = word(row.model);
  const variant = word(row.variant);

  const samples: RollupSamples[] = [];
  const add = (grain: RollupGrainName, values: readonly string[], buckets: readonly (number | null)[]): void => {
    if (buckets.some((bucket) => bucket !== null)) samples.push({ grain, values, buckets });
  };
  add(
    'client',
    [model, word(row.region), word(row.device)],
    [
      ttftClient,
      tpot,
      even ? fromReal(row.gap_max_ms) : null,
      firstScreen,
      ended ? fromReal(row.render_p50_ms) : null,
      taxNs !== null && taxNs >= 0 ? fromNs(taxNs) : null,
    ],
  );
  add(
    'route',
    [model, word(row.route), variant, word(row.tier)],
    [fromNs(row.server_ttft_ns), ttftClient, tpot, firstScreen],
  );
  add(
    'stage',
    [model],
    ROLLUP_STAGES.map((stage) => (countsStage(row, stage, ended) ? fromNs(row[`${stage}_ns`]) : null)),
  );
  add('outcome', [variant, word(row.status), word(ttftBandOf(row.ttft_ms))], COUNTED);
  return samples;
}

/** `requests` has no value, so its only bucket is 0. */
const COUNTED: readonly number[] = ROLLUP_GRAINS.outcome.series.map(() => 0);

function countsStage(row: RequestRow, stage: (typeof ROLLUP_STAGES)[number], ended: boolean): boolean {
  if (stage === 'network') return (row.flags & FLAG_BITS.clock_anomaly) === 0;
  if (stage === 'render') return ended;
  // Without the server's account the whole of the client's wait is unattributed, which says nothing about a stage.
  if (stage === 'unattributed') return row.server_ttft_ns !== null;
  return true;
}

function word(value: string | null): string {
  return value ?? UNKNOWN_LABEL;
}

function fromMs(valueMs: number | null): number | null {
  return valueMs === null ? null : bucketOf(valueMs);
}

function fromNs(durationNs: number | null): number | null {
  return durationNs === null ? null : bucketOf(durationNs / 1e6);
}

/** Columns of type `real`: what was just measured is rounded as the column rounds it. */
function fromReal(valueMs: number | null): number | null {
  return valueMs === null ? null : bucketOf(Math.fround(valueMs));
}
