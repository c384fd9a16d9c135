import { type CombinationIncrements, rollupIncrements, seriesAndBucketOf } from '../pipeline/rollupIncrements.ts';
import type { RequestRow } from '../pipeline/row.ts';
import type { RollupCells } from './rollupCells.ts';

/** Parameters of {@link INSERT_DELTA}: the hour in seconds since 1970, then cells, buckets and counts as array literals. */
export type RollupDelta = [hourS: string, cells: string, buckets: string, counts: string];

/** One line per hour: a row for each count would cost more than the requests themselves. */
export const INSERT_DELTA = `INSERT INTO rollup_deltas (hour, cells, buckets, counts)
  VALUES (to_timestamp($1::double precision), $2::integer[], $3::smallint[], $4::integer[])`;

/** What some changes of rows come to in the rollups, to be committed together with them. Makes cells that are missing. */
export async function rollupDeltas(
  cells: RollupCells,
  changes: readonly { readonly before: RequestRow | null; readonly after: RequestRow }[],
): Promise<RollupDelta[]> {
  const hours = rollupIncrements(changes);
  const missing: CombinationIncrements[] = [];
  for (const combinations of hours.values()) {
    for (const [key, increments] of combinations) {
      for (const [place, count] of increments.counts) if (count === 0) increments.counts.delete(place);
      if (increments.counts.size === 0) combinations.delete(key);
      else if (cells.find(increments.grain, key) === undefined) missing.push(increments);
    }
  }
  if (missing.length > 0) await cells.make(missing);

  const deltas: RollupDelta[] = [];
  for (const [hourMs, combinations] of hours) {
    if (combinations.size > 0) deltas.push(deltaOf(cells, hourMs, combinations));
  }
  return deltas;
}

function deltaOf(
  cells: RollupCells,
  hourMs: number,
  combinations: ReadonlyMap<string, CombinationIncrements>,
): RollupDelta {
  const columns: [number[], number[], number[]] = [[], [], []];
  for (const [key, { grain, counts }] of combinations) {
    const ids = cells.find(grain, key)!;
    for (const [place, count] of counts) {
      const { series, bucket } = seriesAndBucketOf(place);
      columns[0].push(ids[series]!);
      columns[1].push(bucket);
      columns[2].push(count);
    }
  }
  const [ids, buckets, counts] = columns;
  return [String(hourMs / 1000), `{${ids.join()}}`, `{${buckets.join()}}`, `{${counts.join()}}`];
}
