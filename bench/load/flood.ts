import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Flood, FloodResult } from './orders.ts';
import { quantile } from './quantile.ts';

const LOOKS_EVERY_MS = 1;
/** Before it counts: until then queues fill, and those behind them wait for nothing yet. */
const FILLS_FOR_MS = 1_000;
/** How long the last answers are waited for, so that they do not burden what is measured next. */
const PATIENCE_MS = 20_000;

/**
 * Posts due by the clock. One that finds no socket free is given up, as by a client that cannot connect; one that is refused is sent
 * again in place of a later one, as clients do.
 *
 * @throws RangeError when more posts were taken than there are
 */
export async function flood(requests: readonly Buffer[], order: Flood): Promise<FloodResult> {
  const { port, connections, seconds, ratePerS } = order;
  const free = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const again: Buffer[] = [];
  const refused: Record<string, number> = {};
  const lateMs: number[] = [];
  let [taken, due, unsent, accepted, underWay] = [0, 0, 0, 0, 0];
  const cpu = process.cpuUsage();
  const beganMs = performance.now();
  const countsFromMs = beganMs + FILLS_FOR_MS;
  const endMs = countsFromMs + seconds * 1e3;
  const counts = () => performance.now() > countsFromMs && performance.now() < endMs;

  const post = async (kept: Connection): Promise<void> => {
    const request = again.pop() ?? requests[taken++];
    if (request === undefined) throw new RangeError(`a flood took all of ${requests.length} posts`);
    underWay++;
    // A refusal may have closed it.
    const connection = kept.isOpen ? kept : await Connection.open(port).catch(() => kept);
    const status = await connection.send(request);
    underWay--;
    free.push(connection);
    if (status < 200 || status >= 300) {
      again.push(request);
      if (counts()) refused[status] = (refused[status] ?? 0) + 1;
    } else if (counts()) accepted++;
  };
  for (let nowMs = beganMs; nowMs < endMs; nowMs = performance.now()) {
    for (; due < ((nowMs - beganMs) / 1e3) * ratePerS; due++) {
      lateMs.push(nowMs - beganMs - (due / ratePerS) * 1e3);
      const connection = free.pop();
      if (connection !== undefined) void post(connection);
      else if (counts()) unsent++;
    }
    await wait(LOOKS_EVERY_MS);
  }
  const { user, system } = process.cpuUsage(cpu);
  const busyShare = (user + system) / 1e3 / (performance.now() - beganMs);
  while (underWay > 0 && performance.now() < endMs + PATIENCE_MS) await wait(LOOKS_EVERY_MS);
  for (const connection of free) connection.close();
  return { unsent, accepted, refused, lateP99Ms: quantile(lateMs, 0.99), busyShare };
}
