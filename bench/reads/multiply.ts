import type pg from 'pg';
import { ROLLUP_DIMENSIONS } from '../../contract/rollups.ts';
import { pickAgainFrom, pickNextHour } from '../../ingest/store/requestPicks.ts';
import { closeRollupDays } from '../../ingest/store/rollupFold.ts';

const DIMENSIONS = ROLLUP_DIMENSIONS.join(', ');
const dimensionsOf = (alias: string): string => ROLLUP_DIMENSIONS.map((name) => `${alias}.${name}`).join(', ');

/**
 * Makes of each request of a history so many: copies under new keys, all durations of each longer or shorter by up to a tenth, so that histograms
 * are as wide as those of as many different requests. Drawing them anew takes several times as long. Rollups are counted anew, and hours
 * picked again. A day is a transaction; those that are done stay done.
 */
export async function multiply(pool: pg.Pool, times: number, say: (step: string) => void): Promise<void> {
  await pool.query('CREATE TABLE IF NOT EXISTS multiplied (day date PRIMARY KEY)');
  const { rows: days } = await pool.query<{ day: string }>(
    `SELECT DISTINCT (hour AT TIME ZONE 'UTC')::date::text AS day FROM rollup_hours
     EXCEPT SELECT day::text FROM multiplied ORDER BY day`,
  );
  for (const { day } of days) {
    say(`${day}: ${times} requests of each`);
    await multiplyDay(pool, day, times);
    await pool.query(`VACUUM (ANALYZE) requests_${day.replaceAll('-', '')}`);
  }
  say('days, sums and picks');
  await pool.query(`UPDATE rollup_progress SET closed_through = '-infinity'; TRUNCATE rollup_days`);
  await closeRollupDays(pool);
  const { rows: first } = await pool.query<{ hour: Date }>('SELECT min(hour) AS hour FROM rollup_hours');
  await pickAgainFrom(pool, first[0]!.hour);
  while (await pickNextHour(pool));
}

async function multiplyDay(pool: pg.Pool, day: string, times: number): Promise<void> {
  const client = await pool.connect();
  try {
    const partition = `requests_${day.replaceAll('-', '')}`;
    const columns = await copiedColumns(client);
    await client.query(`BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL work_mem = '512MB'`);
    await client.query(`SELECT setseed(0.5)`);
    await client.query(`CREATE TEMP TABLE originals ON COMMIT DROP AS SELECT * FROM ${partition}`);
    const { rows: hours } = await client.query<{ hour: Date }>(
      `SELECT DISTINCT date_trunc('hour', started_at, 'UTC') AS hour FROM originals ORDER BY 1`,
    );
    // Hour by hour, so that rows lie in the order of their start.
    for (const { hour } of hours) {
      await client.query(
        `INSERT INTO ${partition} (trace_id, ${Object.keys(columns).join(', ')})
         SELECT gen_random_uuid(), ${Object.values(columns).join(', ')}
         FROM originals CROSS JOIN generate_series(2, $1::integer) AS copy
           CROSS JOIN LATERAL (SELECT 0.9 + 0.2 * random() + 0 * copy AS factor) AS drawn
         WHERE started_at >= $2 AND started_at < $2::timestamptz + interval '1 hour'`,
        [times, hour],
      );
    }
    await client.query(
      `CREATE TEMP TABLE counted ON COMMIT DROP AS SELECT * FROM rollups_recounted WHERE received_on = '${day}'`,
    );
    await client.query('DELETE FROM rollup_hours WHERE hour IN (SELECT hour FROM counted)');
    await client.query(
      `INSERT INTO rollup_hours (hour, cell, buckets, counts)
       SELECT hour, id, array_agg(bucket), array_agg(n)
       FROM (SELECT grain, metric, ${DIMENSIONS}, hour, bucket, n::integer FROM counted) AS r
         JOIN rollup_cells c ON (c.grain, c.metric) = (r.grain, r.metric)
           AND concat_ws('|', ${dimensionsOf('c')}) = concat_ws('|', ${dimensionsOf('r')})
       GROUP BY hour, id`,
    );
    await client.query('SELECT make_rollup_sums(ARRAY(SELECT DISTINCT hour FROM counted))');
    await client.query('INSERT INTO multiplied VALUES ($1)', [day]);
    await client.query('COMMIT');
  } finally {
    // With what it has set; an open transaction is rolled back.
    client.release(true);
  }
}

/** All but the key, with what a copy has there: durations by the factor that was drawn. */
async function copiedColumns(client: pg.PoolClient): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
     WHERE attrelid = 'requests'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'trace_id'`,
  );
  return Object.fromEntries(
    rows.map(({ name, type }) => [name, isDuration(name) && type !== 'jsonb' ? `(${name} * factor)::${type}` : name]),
  );
}

function isDuration(column: string): boolean {
  return /_(ms|ns)$/.test(column);
}
