import { ROLLUP_GRAIN_NAMES, type RollupGrainName } from '../../contract/rollups.ts';
import { bucketRow, combinationOf, NO_BUCKET, newRowBuckets, sameCombination } from '../pipeline/rollupSamples.ts';
import type { RequestRow } from '../pipeline/row.ts';
import type { Messages } from './messages.ts';
import type { CellIds, Combination, RollupCells } from './rollupCells.ts';

/** A row as it was, and as it is now. */
interface Change {
  readonly before: RequestRow | null;
  readonly after: RequestRow;
}

/** Parameters of {@link INSERT_DELTA}: the hour in seconds since 1970, then cells, buckets and counts. */
export type RollupDelta = [hourS: number, cells: number[], buckets: number[], counts: number[]];

/** One line per hour: a row for each count would cost more than the requests themselves. */
export const INSERT_DELTA = `INSERT INTO rollup_deltas (hour, cells, buckets, counts)
  VALUES (to_timestamp($1::double precision), $2::integer[], $3::smallint[], $4::smallint[])`;

const HOUR_MS = 3_600_000;
const [SMALLINT, INTEGER] = [21, 23];

/** The parameters as a message. */
export function writeDelta(out: Messages, [hourS, cells, buckets, counts]: RollupDelta): void {
  out.float8Parameter(hourS);
  out.beginArray(INTEGER!);
  for (const cell of cells) out.int4(cell);
  out.endArray(cells.length, false);
  for (const numbers of [buckets, counts]) {
    out.beginArray(SMALLINT!);
    for (const number of numbers) out.int2(number);
    out.endArray(numbers.length, false);
  }
}

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
      if (before === null) this.#count(counts, grain, after, null, this.#new[grain]);
      else if (sameCombination(grain, before, after)) {
        this.#count(counts, grain, after, this.#old[grain], this.#new[grain]);
      } else {
        this.#count(counts, grain, before, this.#old[grain], null);
        this.#count(counts, grain, after, null, this.#new[grain]);
      }
    }
  }

  /** Takes away what a combination counted, and adds what it counts now; what is equal cancels out. */
  #count(
    counts: Counts,
    grain: RollupGrainName,
    row: RequestRow,
    minus: Int16Array | null,
    plus: Int16Array | null,
  ): void {
    const { length } = (minus ?? plus)!;
    let ids: CellIds | undefined;
    for (let series = 0; series < length; series++) {
      const less = minus === null ? NO_BUCKET : minus[series]!;
      const more = plus === null ? NO_BUCKET : plus[series]!;
      if (less === more) continue;
      if (ids === undefined) {
        const values = combinationOf(grain, row);
        ids = this.#cells.find(grain, values);
        if (ids === undefined) {
          this.missing.push({ grain, values });
          return;
        }
      }
      if (less !== NO_BUCKET) add(counts, ids[series]! * BUCKETS_APART + less, -1);
      if (more !== NO_BUCKET) add(counts, ids[series]! * BUCKETS_APART + more, 1);
    }
  }

  deltas(): RollupDelta[] {
    const deltas: RollupDelta[] = [];
    for (const [hourMs, counts] of this.#hours) {
      const [cells, buckets, numbers]: [number[], number[], number[]] = [[], [], []];
      for (const [place, count] of counts) {
        if (count === 0) continue;
        const bucket = place % BUCKETS_APART;
        cells.push((place - bucket) / BUCKETS_APART);
        buckets.push(bucket);
        numbers.push(count);
      }
      if (cells.length > 0) deltas.push([hourMs / 1000, cells, buckets, numbers]);
    }
    return deltas;
  }
}

function add(counts: Counts, place: number, by: 1 | -1): void {
  counts.set(place, (counts.get(place) ?? 0) + by);
}
