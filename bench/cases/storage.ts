import type pg from 'pg';
import { todaysTable } from '../copyRows.ts';
import type { Figure } from '../figure.ts';
import { readCounters, walBetween, walPosition } from '../tableCounters.ts';
import { warmUp } from '../turns.ts';
import type { World } from '../world.ts';

/** Line pointer of a row; and an entry of the key: 16 + 4 bytes, aligned, with header and pointer. */
const POINTER_BYTES = 4;
const KEY_ENTRY_BYTES = 8 + 24 + POINTER_BYTES;

/** Rows written since a time of the database, or all. */
async function rowCount(pool: pg.Pool, since = '-infinity'): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::float8 AS count FROM requests WHERE updated_at >= $1',
    [since],
  );
  return rows[0]!.count;
}

/** What a joined request costs the log and the disk, what share of second halves stays on its page, and what a repeated post does. */
export async function storage(world: World): Promise<Figure[]> {
  const database = await world.database('storage');
  const { pool } = database;
  // Requests that miss a half must not settle meanwhile: that is no cost of the events that are measured.
  const service = await world.service(database.url, { env: { JOIN_WAIT: '3600' } });
  await warmUp(world, service.port);
  const posts = world.quick ? 120 : 400;
  const load = { ports: [service.port], connections: 8, seconds: 120 };
  const walRatios: number[] = [];
  const walOfBothRatios: number[] = [];
  const walBytes: number[] = [];
  const imageBytes: number[] = [];
  const replays: number[] = [];
  const hot: number[] = [];
  let replayUpdates = 0;
  let rowBytes = 0;
  let arrivalsBytes = 0;
  for (let round = 0; round < world.rounds; round++) {
    await world.prepare(posts, 100);
    await pool.query('CHECKPOINT');
    const before = await readCounters(pool);
    const rows = await rowCount(pool);
    const from = await walPosition(pool);
    const first = await world.load(load);
    const to = await walPosition(pool);
    const after = await readCounters(pool);
    const size = await pool.query<{ bytes: number }>(
      `SELECT avg(pg_column_size(r.*))::float8 AS bytes FROM (SELECT * FROM ${todaysTable()}
       WHERE status IS NOT NULL AND server_source IS NOT NULL LIMIT 20000) AS r`,
    );
    rowBytes = size.rows[0]!.bytes + POINTER_BYTES + KEY_ENTRY_BYTES;
    const lists = await pool.query<{ bytes: number }>(
      'SELECT avg(pg_column_size(a.*))::float8 AS bytes FROM (SELECT * FROM request_arrivals LIMIT 20000) AS a',
    );
    arrivalsBytes = lists.rows[0]!.bytes + POINTER_BYTES + KEY_ENTRY_BYTES;
    const wal = await walBetween(pool, from, to);
    const joined = (await rowCount(pool)) - rows;
    walBytes.push(wal.records / joined);
    imageBytes.push(wal.images / joined);
    walRatios.push(wal.records / joined / rowBytes);
    walOfBothRatios.push(wal.records / joined / (rowBytes + arrivalsBytes));
    hot.push(((after.hotUpdated - before.hotUpdated) / (after.updated - before.updated)) * 100);
    const since = (await pool.query<{ now: string }>('SELECT now()::text AS now')).rows[0]!.now;
    const again = await world.load(load);
    replayUpdates += await rowCount(pool, since);
    replays.push(again.accepted / again.elapsedS / (first.accepted / first.elapsedS));
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return [
    {
      id: 'storage/wal',
      what: 'log bytes per joined request, without full pages',
      baseline: 'heap and key bytes of its final row',
      unit: '×',
      rounds: walRatios,
      goal: { is: 'at most', value: 3.5, aim: 2 },
      raw: {
        'log bytes': mean(walBytes),
        'bytes of full pages': mean(imageBytes),
        'row bytes': rowBytes,
        'arrivals bytes': arrivalsBytes,
      },
    },
    {
      // The log holds the arrivals as well, which are a row of their own.
      id: 'storage/wal-both',
      what: 'the same',
      baseline: 'heap and key bytes of its rows in both tables',
      unit: '×',
      rounds: walOfBothRatios,
    },
    {
      id: 'storage/hot',
      what: 'second halves that stay on their page (HOT)',
      baseline: '',
      unit: '%',
      rounds: hot,
      goal: { is: 'at least', value: 95 },
    },
    {
      id: 'storage/bytes',
      what: 'stored bytes per joined request, without arrivals and free space',
      baseline: '',
      unit: 'bytes',
      rounds: [rowBytes],
      goal: { is: 'at most', value: 350 },
    },
    {
      id: 'storage/replay',
      what: 'the same batches again',
      baseline: 'their first time',
      unit: '×',
      rounds: replays,
      goal: { is: 'at least', value: 1.3 },
      raw: { 'dead rows made': replayUpdates },
    },
  ];
}
