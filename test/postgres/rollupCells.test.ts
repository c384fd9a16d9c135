import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_ROLLUP_COMBINATIONS, ROLLUP_GRAINS } from '../../contract/rollups.ts';
import { newRow, type RequestRow } from '../../ingest/pipeline/row.ts';
import { RollupCells } from '../../ingest/store/rollupCells.ts';
import { INSERT_DELTA, rollupDeltas } from '../../ingest/store/rollupDeltas.ts';
import { foldRollups } from '../../ingest/store/rollupFold.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { query } from './service.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeEach(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

function rowOf(model: string, fields: Partial<RequestRow> = {}): RequestRow {
  return {
    ...newRow({ traceId: 'a'.repeat(32), startedAtMs: 0 }),
    status: 'complete',
    ttft_ms: 412.3,
    model,
    ...fields,
  };
}

async function commit(cells: RollupCells, before: RequestRow | null, after: RequestRow): Promise<void> {
  for (const delta of await rollupDeltas(cells, [{ before, after }])) await pool.query(INSERT_DELTA, delta);
}

/** Requests by model, as the view adds them up; without those whose counts cancel out. */
const models = async () => {
  const rows = await query<{ model: string; n: number }>(
    database.url,
    `SELECT model, sum(n)::int AS n FROM rollups WHERE grain = 'client' AND metric = 'ttft_client' GROUP BY model HAVING sum(n) <> 0 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ model, n }) => [model, n]));
};

describe('cells', () => {
  test('each grain gets one per series for a combination, and all processes get the same', async () => {
    const processes = Array.from({ length: 4 }, () => new RollupCells(pool));
    await Promise.all(
      processes.flatMap((cells) => Array.from({ length: 5 }, (_, n) => commit(cells, null, rowOf(`model-${n}`)))),
    );
    expect(
      await query(database.url, 'SELECT grain, count(*)::int AS cells FROM rollup_cells GROUP BY grain ORDER BY grain'),
    ).toEqual([
      { grain: 'client', cells: 5 * ROLLUP_GRAINS.client.series.length },
      { grain: 'outcome', cells: ROLLUP_GRAINS.outcome.series.length },
      { grain: 'route', cells: 5 * ROLLUP_GRAINS.route.series.length },
    ]);
    expect(await models()).toEqual(Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`model-${n}`, 4])));
  });

  test('beyond the cap they are one, exactly at the cap, also with many processes', async () => {
    const processes = Array.from({ length: 4 }, () => new RollupCells(pool, 10));
    await Promise.all(
      processes.map(async (cells, number) => {
        for (let n = 0; n < 10; n++) await commit(cells, null, rowOf(`model-${number}-${n}`));
      }),
    );
    const found = await models();
    expect(Object.keys(found).length).toBe(11);
    expect(found['other']).toBe(30);
    expect(
      await query(database.url, `SELECT count(*)::int AS n FROM rollup_cells WHERE grain = 'client' AND NOT overflow`),
    ).toEqual([{ n: 10 * ROLLUP_GRAINS.client.series.length }]);
  });

  test('what went beyond the cap is taken away there, by a process with a higher cap and after a restart too', async () => {
    const first = new RollupCells(pool, 2);
    await commit(first, null, rowOf('a'));
    await commit(first, null, rowOf('b'));
    await commit(first, null, rowOf('c'));
    await commit(first, null, rowOf('other'));
    expect(await models()).toEqual({ a: 1, b: 1, other: 2 });
    const later = new RollupCells(pool, MAX_ROLLUP_COMBINATIONS);
    await commit(later, rowOf('c'), rowOf('b', { ttft_ms: 10 }));
    await commit(later, rowOf('a'), rowOf('d'));
    expect(await models()).toEqual({ b: 2, other: 2 });
    await commit(new RollupCells(pool, 2), rowOf('d'), rowOf('a'));
    await commit(later, rowOf('other'), rowOf('b'));
    expect(await models()).toEqual({ a: 1, b: 3 });
    while ((await foldRollups(pool)) > 0);
    expect(await models()).toEqual({ a: 1, b: 3 });
  });

  test('a word that is other itself has a cell of its own before the overflow, and readers see one sum', async () => {
    const cells = new RollupCells(pool, 2);
    for (const model of ['other', 'a', 'b', 'c'])
      await commit(cells, null, rowOf(model, { region: 'other', device: 'other' }));
    expect(await models()).toEqual({ a: 1, other: 3 });
    for (const model of ['other', 'c'])
      await commit(
        cells,
        rowOf(model, { region: 'other', device: 'other' }),
        rowOf('a', { region: 'other', device: 'other' }),
      );
    expect(await models()).toEqual({ a: 3, other: 1 });
  });

  test('a failure to make them is reported, and the next try makes them', async () => {
    const away = new pg.Pool({ connectionString: database.url.replace(/test_\w+/, 'nowhere') });
    const cells = new RollupCells(away);
    await expect(rollupDeltas(cells, [{ before: null, after: rowOf('a') }])).rejects.toThrow('does not exist');
    await away.end();
    const lock = await pool.connect();
    await lock.query('BEGIN; LOCK TABLE rollup_cells');
    const slow = new pg.Pool({ connectionString: database.url, statement_timeout: 200 });
    const again = new RollupCells(slow);
    const tries = await Promise.allSettled(['a', 'b'].map((model) => commit(again, null, rowOf(model))));
    expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await lock.query('ROLLBACK');
    lock.release();
    await commit(again, null, rowOf('a'));
    await slow.end();
    expect(await models()).toEqual({ a: 1 });
  });
});
