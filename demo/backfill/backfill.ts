import type pg from 'pg';
import { ROLLUP_GRAIN_NAMES, ROLLUP_GRAINS, type RollupDimension, type RollupGrain } from '../../contract/rollups.ts';
import { ensurePartitions } from '../../ingest/store/partitions.ts';
import { pickAgainFrom, pickNextHour } from '../../ingest/store/requestPicks.ts';
import { type Combination, RollupCells } from '../../ingest/store/rollupCells.ts';
import { closeRollupDays, foldRollups } from '../../ingest/store/rollupFold.ts';
import { LABELS_OF_PLANS } from '../plan.ts';
import { INSERT_ARRIVALS, INSERT_HOUR, isBadHour, SYNTHETIC } from './historyRows.ts';

export const ROWS_PER_HOUR = 6_000;
const HOUR_MS = 3_600_000;
const ARRIVALS_SHARE = 0.02;
/** As full as second halves leave a page; these rows have both at once, and need no room for more. */
const FULL_PERCENT = 70;
/** A delta's counts are small numbers; larger ones are several entries. */
const MAX_COUNT = 32_767;

export interface BackfillOptions {
  readonly pool: pg.Pool;
  /** How far back, hours; ends with the current one. */
  readonly hours: number;
  /** Mean over a day. */
  readonly rowsPerHour?: number;
  readonly seed: number;
  readonly nowMs?: number;
  /** Told after each day. */
  readonly onProgress?: (done: BackfillProgress) => void;
  readonly signal?: AbortSignal;
}

export interface BackfillProgress {
  readonly rows: number;
  /** Of the hours that were asked for. */
  readonly share: number;
}

/**
 * Writes a history that nobody ever sent, marked as such in `call_id`: a day rhythm, a region with a bad hour, a database that is slow at
 * night. Rows, rollups and words are as the ingest would have left them, in one transaction for each day; the counters of Prometheus
 * know nothing of it. Hours that have such rows already are left alone, so that it can be repeated.
 *
 * @returns rows that were written
 */
export async function backfill(options: BackfillOptions): Promise<number> {
  const { pool, hours, seed, signal, onProgress, nowMs = Date.now(), rowsPerHour = ROWS_PER_HOUR } = options;
  const lastHour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const wanted = Array.from({ length: hours }, (_, at) => new Date(lastHour - (hours - 1 - at) * HOUR_MS));
  await ensurePartitions(pool, Math.ceil(hours / 24) + 1);
  await acceptLabels(pool);
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const cells = new RollupCells(pool);
  const byDay = new Map<string, Date[]>();
  for (const hour of wanted) {
    const day = hour.toISOString().slice(0, 10);
    byDay.set(day, [...(byDay.get(day) ?? []), hour]);
  }
  let rows = 0;
  let hoursDone = 0;
  const days = [...byDay];
  /** Two at a time: one draws rows while the other counts. */
  const work = async (): Promise<void> => {
    for (let next = days.shift(); next !== undefined; next = days.shift()) {
      const [day, hoursOfDay] = next;
      if (day < today) await pool.query(`ALTER TABLE ${partitionOf(day)} SET (fillfactor = ${FULL_PERCENT})`);
      const written = await fillDay(pool, cells, { day, hours: hoursOfDay, seed, rowsPerHour, until: new Date(nowMs) });
      rows += written;
      // As the service does every few seconds; what it takes away meanwhile is not here any more.
      while ((await foldRollups(pool)) > 0) signal?.throwIfAborted();
      hoursDone += hoursOfDay.length;
      onProgress?.({ rows, share: hoursDone / hours });
      signal?.throwIfAborted();
    }
  };
  await Promise.all([work(), work()]);
  // What the other was folding when one looked for more.
  while ((await foldRollups(pool)) > 0) signal?.throwIfAborted();
  if (rows === 0) return 0;
  await closeRollupDays(pool);
  await pickAgainFrom(pool, wanted[0]!);
  while (await pickNextHour(pool)) signal?.throwIfAborted();
  for (const day of byDay.keys()) await pool.query(`VACUUM (ANALYZE) ${partitionOf(day)}`);
  await pool.query('ANALYZE rollup_hours, rollup_days, rollup_cells');
  return rows;
}

const partitionOf = (day: string): string => `requests_${day.replaceAll('-', '')}`;

interface DayOfHistory {
  readonly day: string;
  readonly hours: readonly Date[];
  readonly seed: number;
  readonly rowsPerHour: number;
  readonly until: Date;
}

async function fillDay(pool: pg.Pool, cells: RollupCells, history: DayOfHistory): Promise<number> {
  const { day, hours, seed, rowsPerHour, until } = history;
  const client = await pool.connect();
  try {
    // One view of the table for both counts: what others write meanwhile is theirs to count.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL synchronous_commit = off');
    const there = await client.query<{ hour: Date }>(
      `SELECT DISTINCT date_trunc('hour', started_at, 'UTC') AS hour FROM requests WHERE day = $1 AND call_id = '${SYNTHETIC}'`,
      [day],
    );
    const known = new Set(there.rows.map(({ hour }) => hour.getTime()));
    const missing = hours.filter((each) => !known.has(each.getTime()));
    if (missing.length === 0) {
      await client.query('ROLLBACK');
      return 0;
    }
    await client.query(`CREATE TEMP TABLE counted ON COMMIT DROP AS ${COUNT.replace('$1', `'${day}'`)}`);
    let rows = 0;
    for (const hour of missing) {
      const load = loadOf(hour);
      const share = Math.min(1, (until.getTime() - hour.getTime()) / HOUR_MS);
      const count = Math.round(rowsPerHour * load * share);
      await client.query('SELECT setseed($1)', [((seed * 7_919 + hour.getTime() / HOUR_MS) % 100_003) / 100_003]);
      const id = `${seed} ${hour.getTime()} `;
      await client.query(INSERT_HOUR, [hour, count, load, id, isBadHour(hour), until]);
      rows += count;
    }
    await client.query(INSERT_ARRIVALS, [day, ARRIVALS_SHARE]);
    await client.query(`CREATE TEMP TABLE added ON COMMIT DROP AS ${ADDED.replace('$1', `'${day}'`)}`);
    for (const grain of ROLLUP_GRAIN_NAMES) await cells.make(await combinationsOf(client, grain));
    // Cells that were just made are younger than this transaction's view: another connection reads them.
    await client.query(WRITE_DELTAS, [JSON.stringify(await readCells(pool)), MAX_COUNT]);
    await client.query('COMMIT');
    return rows;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** Morning is quiet, evening is busy; the mean of a day is 1. */
function loadOf(hour: Date): number {
  return 1 + 0.75 * Math.sin(((hour.getUTCHours() - 11) / 24) * 2 * Math.PI);
}

async function acceptLabels(pool: pg.Pool): Promise<void> {
  for (const [label, values] of Object.entries(LABELS_OF_PLANS))
    await pool.query('INSERT INTO label_values (label, value) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING', [
      label,
      values,
    ]);
}

const DIMENSIONS = 'model, region, device, route, variant, tier, stage, outcome, ttft_band';
const COUNT = `SELECT grain, metric, hour, ${DIMENSIONS}, bucket, n FROM rollups_recounted WHERE received_on = $1`;
/** What the day has more of than before. */
const ADDED = `
  SELECT grain, metric, hour, ${DIMENSIONS}, bucket, sum(n) AS n
  FROM (${COUNT} UNION ALL SELECT grain, metric, hour, ${DIMENSIONS}, bucket, -n FROM counted) AS both_counts
  GROUP BY grain, metric, hour, ${DIMENSIONS}, bucket HAVING sum(n) <> 0`;

async function combinationsOf(client: pg.PoolClient, grain: Combination['grain']): Promise<Combination[]> {
  const { dimensions }: RollupGrain = ROLLUP_GRAINS[grain];
  const { rows } = await client.query<Record<RollupDimension, string>>(
    `SELECT DISTINCT ${dimensions.join(', ')} FROM added WHERE grain = $1`,
    [grain],
  );
  return rows.map((row) => ({ grain, values: dimensions.map((dimension) => row[dimension]) }));
}

async function readCells(pool: pg.Pool): Promise<unknown[]> {
  return (await pool.query(`SELECT id, grain, metric, ${DIMENSIONS} FROM rollup_cells WHERE NOT overflow`)).rows;
}

/** One line per hour, as a flush would write it. $1: cells as JSON, $2: largest count of an entry */
const WRITE_DELTAS = `
  INSERT INTO rollup_deltas (hour, cells, buckets, counts)
  SELECT hour, array_agg(id), array_agg(bucket), array_agg(least($2::bigint, n - part * $2::bigint)::smallint)
  FROM (
    SELECT a.hour, c.id, a.bucket, a.n FROM added a
    JOIN jsonb_to_recordset($1::jsonb) AS c (id integer, grain text, metric text, model text, region text, device text, route text,
      variant text, tier text, stage text, outcome text, ttft_band text)
      ON (c.grain, c.metric) = (a.grain, a.metric)
      AND concat_ws('|', c.model, c.region, c.device, c.route, c.variant, c.tier, c.stage, c.outcome, c.ttft_band)
        = concat_ws('|', a.model, a.region, a.device, a.route, a.variant, a.tier, a.stage, a.outcome, a.ttft_band)
  ) AS counts CROSS JOIN LATERAL generate_series(0, (n - 1) / $2::bigint) AS part
  GROUP BY hour`;
