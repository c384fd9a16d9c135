import pg from 'pg';
import { backfill } from '../../demo/backfill/backfill.ts';
import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { panelStatements } from '../reads/panels.ts';
import { rawTurns, takeTurns, warmUp } from '../turns.ts';
import type { World } from '../world.ts';
import { batchTurn } from './batch.ts';

const DAYS = 7;
const PANELS = 8;
const REFRESH_EVERY_S = 5;
const SEED = 20_261_201;
/** Room for more than a service does; what is left over is not sent. */
const MOST_POSTS_PER_S = 700;

/** Batches while eight panels, taken from all dashboards, show the week before and are refreshed every five seconds; and without. */
export async function dashboards(world: World): Promise<Figure[]> {
  const { url, pool } = await world.database('dashboards');
  const service = await world.service(url);
  const rows = world.quick ? 30_000 : 300_000;
  const hours = DAYS * 24;
  await backfill({
    pool,
    hours,
    rowsPerHour: Math.round(rows / hours),
    seed: SEED,
    onProgress: (done) => world.say(`dashboards: ${done.rows.toLocaleString('en')} requests of history`),
  });
  await warmUp(world, service.port);
  const to = new Date();
  const from = new Date(to.getTime() - hours * 3_600_000);
  const all = await panelStatements({ url, pool, from, to, stop: () => Promise.resolve() });
  const shown = Array.from({ length: PANELS }, (_, at) => all[Math.floor((at * all.length) / PANELS)]!);
  // As Grafana has it: connections that stay, with the reader's rights.
  const readers = new pg.Pool({
    connectionString: url,
    max: PANELS,
    options: '-c timezone=UTC -c role=grafana_reader',
  });
  readers.on('error', () => {});
  const refreshMs: number[] = [];
  const refresh = async () => {
    const beganMs = performance.now();
    await Promise.all(shown.map(({ sql }) => readers.query(sql)));
    refreshMs.push(performance.now() - beganMs);
  };
  try {
    const contestant = { ports: [service.port], pids: [service.pid] };
    const turns = await takeTurns(
      world,
      { shown: { ...contestant, during: refresh }, 'not shown': contestant },
      { ...batchTurn(world, 0), posts: MOST_POSTS_PER_S * REFRESH_EVERY_S, seconds: REFRESH_EVERY_S },
    );
    return [
      {
        id: 'dashboards/ingest',
        what: `batches beside ${PANELS} panels over ${DAYS} days, refreshed every ${REFRESH_EVERY_S} s`,
        baseline: 'without them',
        unit: '×',
        rounds: ratios(
          turns.shown.map((turn) => turn.eventsPerS),
          turns['not shown'].map((turn) => turn.eventsPerS),
        ),
        goal: { is: 'at least', value: 0.9 },
        raw: { 'requests of history': rows, 'a refresh ms': median(refreshMs), ...rawTurns(turns) },
      },
    ];
  } finally {
    await readers.end();
  }
}
