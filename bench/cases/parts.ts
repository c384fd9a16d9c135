import path from 'node:path';
import { type Figure, ratios } from '../figure.ts';
import { rawTurns, takeTurns, warmUp } from '../turns.ts';
import type { World } from '../world.ts';
import { batchTurn } from './batch.ts';

/** What rollups and exported traces cost, and what a second process does. */
export async function parts(world: World): Promise<Figure[]> {
  const collector = await world.baseline('drain');
  const whole = await world.database('whole');
  const bare = await world.database('bare');
  const full = await world.service(whole.url, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` },
  });
  const without = await world.service(bare.url, {
    imports: [path.join(import.meta.dirname, '../withoutRollups.ts')],
  });
  for (const { port } of [full, without]) await warmUp(world, port);
  const options = batchTurn(world, 3);
  const turns = await takeTurns(
    world,
    {
      'rollups and spans': { ports: [full.port], pids: [full.pid] },
      neither: { ports: [without.port], pids: [without.pid] },
    },
    options,
  );
  const figure: Figure = {
    id: 'parts/rollups-spans',
    what: 'batches with rollups and exported spans',
    baseline: 'without both',
    unit: '×',
    rounds: ratios(
      turns['rollups and spans'].map((turn) => turn.eventsPerS),
      turns.neither.map((turn) => turn.eventsPerS),
    ),
    goal: { is: 'at least', value: 0.85 },
    raw: rawTurns(turns),
  };
  await world.endCase();

  const shared = await world.database('shared');
  const [one, two] = [await world.service(shared.url), await world.service(shared.url)];
  for (const { port } of [one, two]) await warmUp(world, port);
  const processes = await takeTurns(
    world,
    {
      one: { ports: [one.port], pids: [one.pid] },
      two: { ports: [one.port, two.port], pids: [one.pid, two.pid] },
    },
    options,
  );
  const cost = (name: 'one' | 'two') => processes[name].map((turn) => turn.serverUs + turn.postgresUs);
  return [
    figure,
    {
      id: 'parts/two-processes',
      what: 'two ingest processes, processor time per event',
      baseline: 'one process',
      unit: '×',
      rounds: ratios(cost('two'), cost('one')),
      goal: { is: 'at most', value: 1.1 },
      raw: rawTurns(processes),
    },
  ];
}
