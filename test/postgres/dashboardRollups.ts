import type pg from 'pg';
import { ROLLUP_DIMENSIONS } from '../../contract/rollups.ts';

const DIMENSIONS = ROLLUP_DIMENSIONS.join(', ');
const joined = (alias: string) => ROLLUP_DIMENSIONS.map((name) => `${alias}.${name}`).join(', ');

/** Rolls up the stored requests as the ingest would have: every second hour as a whole, of the others half as lines that are not folded yet. */
export async function rollUp(client: pg.Client): Promise<void> {
  await client.query(`CREATE TEMPORARY TABLE counted AS SELECT *, extract(hour FROM hour)::int % 2 = 0 AND row_number() OVER () % 2 = 0 AS folds_later
    FROM rollups_recounted`);
  await client.query(`INSERT INTO rollup_cells (grain, metric, ${DIMENSIONS})
    SELECT DISTINCT grain, metric, ${DIMENSIONS} FROM counted`);
  const cells = `counted r JOIN rollup_cells c ON jsonb_build_array(c.grain, c.metric, ${joined('c')})
    = jsonb_build_array(r.grain, r.metric, ${joined('r')})`;
  await client.query(`INSERT INTO rollup_hours (hour, cell, buckets, counts)
    SELECT r.hour, c.id, array_agg(r.bucket), array_agg(r.n::integer) FROM ${cells} WHERE NOT folds_later GROUP BY 1, 2`);
  await client.query(`INSERT INTO rollup_deltas (hour, cells, buckets, counts)
    SELECT r.hour, array_agg(c.id), array_agg(r.bucket), array_agg(r.n::integer) FROM ${cells} WHERE folds_later GROUP BY 1`);
  await client.query('SELECT make_rollup_sums(ARRAY(SELECT DISTINCT hour FROM rollup_hours))');
  await client.query('DROP TABLE counted');
}
