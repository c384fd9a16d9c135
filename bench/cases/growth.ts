import type pg from 'pg';
import { todaysTable } from '../copyRows.ts';
import { type Figure, ratios } from '../figure.ts';
import { growToday } from '../growToday.ts';
import { rawTurns, takeTurns, warmUp } from '../turns.ts';
import type { World } from '../world.ts';
import { batchTurn } from './batch.ts';

/** Batches into a table that is nearly empty and into one that has millions of rows, by two services that take turns. */
export async function growth(world: World): Promise<Figure[]> {
  const full = await world.database('full');
  const empty = await world.database('nearly_empty');
  const grown = await world.service(full.url);
  const fresh = await world.service(empty.url);
  for (const { port } of [grown, fresh]) await warmUp(world, port);
  const sizes = world.quick ? [200_000] : [100_000, 1_000_000, ...(world.large ? [10_000_000, 50_000_000] : [])];
  const options = batchTurn(world, 4);
  const figures: Figure[] = [];
  for (const rows of sizes) {
    await growToday(full.pool, rows, (step) => world.say(`growth: ${step}`));
    const turns = await takeTurns(
      world,
      {
        grown: { ports: [grown.port], pids: [grown.pid], during: () => full.pool.query('CHECKPOINT') },
        empty: {
          ports: [fresh.port],
          pids: [fresh.pid],
          before: () => empty.pool.query('TRUNCATE requests, request_arrivals'),
          during: () => empty.pool.query('CHECKPOINT'),
        },
      },
      options,
    );
    figures.push({
      id: `growth/${rows}`,
      what: `batches at ${rows.toLocaleString('en')} stored rows`,
      baseline: 'at an empty table',
      unit: '×',
      rounds: ratios(
        turns.grown.map((turn) => turn.eventsPerS),
        turns.empty.map((turn) => turn.eventsPerS),
      ),
      ...(rows >= 10_000_000 && { goal: { is: 'at least', value: 0.75, aim: 0.9 } }),
      raw: { rows, ...rawTurns(turns) },
    });
  }
  figures.push(await dropDay(full.pool, sizes.at(-1)!));
  return figures;
}

/** The delete is rolled back, which spares it what vacuum would have to do after it. */
async function dropDay(pool: pg.Pool, rows: number): Promise<Figure> {
  const table = todaysTable();
  const client = await pool.connect();
  const timed = async (statement: string): Promise<number> => {
    const beganMs = performance.now();
    await client.query(statement);
    return performance.now() - beganMs;
  };
  await client.query('BEGIN');
  const deletedMs = await timed(`DELETE FROM ${table}`);
  await client.query('ROLLBACK');
  const detachedMs = await timed(`ALTER TABLE requests DETACH PARTITION ${table} CONCURRENTLY`);
  const droppedMs = detachedMs + (await timed(`DROP TABLE ${table}`));
  client.release();
  return {
    id: 'growth/drop',
    what: `dropping a day of ${rows.toLocaleString('en')} rows`,
    baseline: 'deleting them',
    unit: '×',
    rounds: [droppedMs / deletedMs],
    goal: { is: 'at most', value: 0.01 },
    raw: { 'dropped ms': droppedMs, 'deleted ms': deletedMs },
  };
}
