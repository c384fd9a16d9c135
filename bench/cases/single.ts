import { type Figure, ratios } from '../figure.ts';
import { rawTurns, takeTurns, warmUp } from '../turns.ts';
import type { World } from '../world.ts';

const CONNECTIONS = 64;

/** Single events on kept-alive connections, answered after their commit. */
export async function single(world: World): Promise<Figure[]> {
  const database = await world.database('single');
  const other = await world.database('naive');
  await other.pool.query(`CREATE TABLE naive_events (trace_id uuid, kind text, received_at timestamptz DEFAULT now(),
    ttft_ms float8, end_ms float8, output_tokens integer, model text, route text, region text, device text,
    arrivals_ms float8[], PRIMARY KEY (trace_id, kind))`);
  const service = await world.service(database.url);
  await warmUp(world, service.port);
  const of = ({ port, pid }: { port: number; pid: number }) => ({ ports: [port], pids: [pid] });
  const checkpoint = () => database.pool.query('CHECKPOINT');
  const turns = await takeTurns(
    world,
    {
      service: { ...of(service), during: checkpoint },
      express: of(await world.baseline('express')),
      drain: of(await world.baseline('drain')),
      naive: { ...of(await world.baseline('naive', other.url)), during: checkpoint },
    },
    { posts: world.quick ? 20_000 : 40_000, lines: 1, connections: CONNECTIONS, seconds: world.quick ? 1 : 3 },
  );
  const rate = (name: keyof typeof turns) => turns[name].map((turn) => turn.eventsPerS);
  const against = (id: string, baseline: string, name: keyof typeof turns, value: number, aim: number): Figure => ({
    id,
    what: 'single events, 202 after the commit',
    baseline,
    unit: '×',
    rounds: ratios(rate('service'), rate(name)),
    goal: { is: 'at least', value, aim },
  });
  return [
    { ...against('single/express', 'empty Express 5 handler', 'express', 2.2, 3), raw: rawTurns(turns) },
    against('single/drain', 'node:http that drains the body', 'drain', 0.45, 0.6),
    against('single/naive', 'naive stack', 'naive', 5, 7),
  ];
}
