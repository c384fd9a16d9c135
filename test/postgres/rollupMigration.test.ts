import { expect, test } from 'vitest';
import { ROLLUP_GRAINS, type RollupGrain } from '../../contract/rollups.ts';
import { MIGRATIONS, migrate } from '../../migrations/migrate.ts';
import { createEmptyDatabase } from './database.ts';
import { expectExactRollups } from './rollupRecount.ts';
import { openService, query } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';

test('requests from before the rollups are counted, and a later half of theirs takes that away again', async () => {
  const database = await createEmptyDatabase();
  try {
    await migrate(database.url, { '0001_requests': MIGRATIONS['0001_requests']! });
    await query(
      database.url,
      `CREATE TABLE requests_now PARTITION OF requests DEFAULT;
       ALTER TABLE requests DETACH PARTITION requests_now`,
    );
    const keys = Array.from({ length: 30 }, traceId);
    await query(
      database.url,
      `INSERT INTO requests_now (trace_id, day, started_at, updated_at, status, seq, ttft_ms, tpot_ms, gap_max_ms, first_screen_ms,
         render_p50_ms, render_ns, server_ttft_ns, receive_ns, network_ns, unattributed_ns, server_source, flags, model, device)
       SELECT k::uuid, (now() AT TIME ZONE 'UTC')::date, now() - n * interval '7 minutes', now(),
         (ARRAY['complete', 'streaming', 'error']::stream_status[])[1 + n % 3], 1, 3.7 * n ^ 2, n / 7.0, n, n * 100.1, n / 3.0, n * 999,
         CASE WHEN n % 4 > 0 THEN n * 1234567 END, n, n * 1000, 5, CASE WHEN n % 4 > 0 THEN 'echo'::server_source END,
         (ARRAY[0, 0, 1, 2, 32])[1 + n % 5], 'm' || n % 2, (ARRAY['mobile', NULL, 'desktop']::device[])[1 + n % 3]
       FROM unnest($1::text[]) WITH ORDINALITY AS u(k, n)`,
      [keys],
    );
    const today = new Date().toISOString().slice(0, 10);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await query(
      database.url,
      `ALTER TABLE requests_now RENAME TO requests_${today.replaceAll('-', '')};
       ALTER TABLE requests ATTACH PARTITION requests_${today.replaceAll('-', '')} FOR VALUES FROM ('${today}') TO ('${tomorrow}')`,
    );
    await migrate(database.url);
    expect(await expectExactRollups(database.url)).toBeGreaterThan(100);

    const service = await openService({ databaseUrl: database.url });
    try {
      await service.postTimings(...keys.map((trace_id) => serverRecord({ trace_id })));
      await service.postBeacons(...keys.map((trace_id) => beacon({ trace_id, seq: 7, region: 'eu' })));
      await expectExactRollups(database.url);
    } finally {
      await service.stop();
    }
    const series = await query(database.url, 'SELECT DISTINCT grain, metric, stage FROM rollup_cells ORDER BY 1, 2, 3');
    expect(series).toEqual(
      Object.entries<RollupGrain>(ROLLUP_GRAINS)
        .flatMap(([grain, each]) =>
          each.series.map(({ metric, stage }) => ({ grain, metric, stage: stage as string | null })),
        )
        .sort((a, b) => (`${a.grain} ${a.metric} ${a.stage}` < `${b.grain} ${b.metric} ${b.stage}` ? -1 : 1)),
    );
  } finally {
    await database.drop();
  }
});
