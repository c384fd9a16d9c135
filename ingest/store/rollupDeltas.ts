import { ROLLUP_GRAIN_NAMES, type RollupGrainName } from '../../contract/rollups.ts';
import {
  bucketRow,
  combinationKey,
  combinationOf,
  NO_BUCKET,
  newRowBuckets,
  type RowBuckets,
} from '../pipeline/rollupSamples.ts';
import type { RequestRow } from '../pipeline/row.ts';
import type { CellIds, Combination, RollupCells } from './rollupCells.ts';

/** A row as it was, and as it is now. */
interface Change {
  readonly before: RequestRow | null;
  readonly after: RequestRow;
}

/** Parameters of {@link INSERT_DELTA}: the hour in seconds since 1970, then cells, buckets and counts as array literals. */
export type RollupDelta = [hourS: string, cells: string, buckets: string, counts: string];

/** One line per hour: a row for each count would cost more than the requests themselves. */
export const INSERT_DELTA = `INSERT INTO rollup_deltas (hour, cells, buckets, counts)
  VALUES (to_timestamp($1::double precision), $2::integer[], $3::smallint[], $4::smallint[])`;

const HOUR_MS = 3_600_000;

/**
 * What some changes of rows come to in the rollups, to be committed together with them: what the old state had added is taken
 * away, what the new one adds is added. Makes cells that are missing.
 */
export async function rollupDeltas(cells: RollupCells, changes: readonly Change[]): Promise<RollupDelta[]> {
  for (;;) {
    const counting = new Counting(cells);
    for (const change of changes) counting.add(change);
    if (counting.missing.length === 0) return counting.deltas();
    await cells.make(counting.missing);
  }
}

/** More than there are buckets; a cell and a bucket become one number with it, small enough to be a quick key. */
const BUCKETS_APART = 2_048;

/** By cell and bucket, how much is to be added. */
type Counts = Map<number, number>;

class Counting {
  readonly missing: Combination[] = [];
  readonly #cells: RollupCells;
  readonly #hours = new Map<number, Counts>();
  readonly #old = newRowBuckets();
  readonly #new = newRowBuckets();

  constructor(cells: RollupCells) {
    this.#cells = cells;
  }

  add({ before, after }: Change): void {
    // The start never changes, so neither does the hour.
    const hourMs = Math.floor(after.started_at / HOUR_MS) * HOUR_MS;
    let counts = this.#hours.get(hourMs);
    if (counts === undefined) {
      counts = new Map();
      this.#hours.set(hourMs, counts);
    }
    bucketRow(after, this.#new);
    if (before !== null) bucketRow(before, this.#old);
    for (const grain of ROLLUP_GRAIN_NAMES) {
      const combination = combinationOf(grain, after);
      const key = combinationKey(combination);
      if (before === null) {
        this.#count(counts, grain, combination, key, this.#new, null, 1);
        continue;
      }
      const oldCombination = combinationOf(grain, before);
      const oldKey = combinationKey(oldCombination);
      const same = key === oldKey;
      this.#count(counts, grain, oldCombination, oldKey, this.#old, same ? this.#new : null, -1);
      this.#count(counts, grain, combination, key, this.#new, same ? this.#old : null, 1);
    }
  }

  /** @param other counted the other way in the same cells: what is equal cancels out */
  #count(
    counts: Counts,
    grain: RollupGrainName,
    values: readonly string[],
    key: string,
    row: RowBuckets,
    other: RowBuckets | null,
    by: 1 | -1,
  ): void {
    const buckets = row[grain];
    let ids: CellIds | undefined;
    for (let series = 0; series < buckets.length; series++) {
      const bucket = buckets[series]!;
      if (bucket === NO_BUCKET || (other !== null && other[grain][series] === bucket)) continue;
      ids ??= this.#cells.find(grain, key);
      if (ids === undefined) {
        this.missing.push({ grain, values });
        return;
      }
      const place = ids[series]! * BUCKETS_APART + bucket;
      counts.set(place, (counts.get(place) ?? 0) + by);
    }
  }

  deltas(): RollupDelta[] {
    const deltas: RollupDelta[] = [];
    for (const [hourMs, counts] of this.#hours) {
      let [cells, buckets, numbers] = ['', '', ''];
      for (const [place, count] of counts) {
        if (count === 0) continue;
        const bucket = place % BUCKETS_APART;
        cells += `,${(place - bucket) / BUCKETS_APART}`;
        buckets += `,${bucket}`;
        numbers += `,${count}`;
      }
      if (cells === '') continue;
      deltas.push([String(hourMs / 1000), `{${cells.slice(1)}}`, `{${buckets.slice(1)}}`, `{${numbers.slice(1)}}`]);
    }
    return deltas;
  }
}
