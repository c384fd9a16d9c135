/** Sends load, in a process of its own, so that its work is not counted as the server's. Does one order of its parent after another. */

import { makePosts } from './bodies.ts';
import { Connection } from './connection.ts';
import { flood } from './flood.ts';
import { type LoadResult, type Order, TOKEN } from './orders.ts';
import { quantile } from './quantile.ts';

/** Made ahead, so that a load only writes bytes. */
let requests: Buffer[] = [];

function prepare(posts: number, lines: number): void {
  const type = lines > 1 ? 'application/x-ndjson' : 'application/json';
  requests = makePosts(posts, lines).map(({ path, body }) =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: ${type}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );
}

async function load(order: Extract<Order, { kind: 'load' }>): Promise<LoadResult> {
  const { ports, seconds, ratePerS } = order;
  const connections = await Promise.all(
    Array.from({ length: order.connections }, (_, at) => Connection.open(ports[at % ports.length]!)),
  );
  const timesMs: number[] = [];
  const refused: Record<string, number> = {};
  let sent = 0;
  let accepted = 0;
  const cpu = process.cpuUsage();
  const beganMs = performance.now();
  const endMs = beganMs + seconds * 1e3;
  const post = async (connection: Connection, dueMs: number): Promise<boolean> => {
    const status = await connection.send(requests[sent++]!);
    timesMs.push(performance.now() - dueMs);
    if (status >= 200 && status < 300) accepted++;
    else refused[status] = (refused[status] ?? 0) + 1;
    return status > 0;
  };
  const goesOn = () => sent < requests.length && performance.now() < endMs;
  const dueAtMs = () => (ratePerS === undefined ? performance.now() : beganMs + (sent / ratePerS) * 1e3);
  const run = async (connection: Connection): Promise<void> => {
    while (goesOn()) {
      const dueMs = dueAtMs();
      if (dueMs > performance.now()) await new Promise((resolve) => setTimeout(resolve, 1));
      else if (!(await post(connection, dueMs))) return;
    }
  };
  await Promise.all(connections.map(run));
  const elapsedS = (performance.now() - beganMs) / 1e3;
  const { user, system } = process.cpuUsage(cpu);
  for (const connection of connections) connection.close();
  const [p50Ms, p99Ms] = [quantile(timesMs, 0.5), quantile(timesMs, 0.99)];
  const busyShare = (user + system) / 1e6 / elapsedS;
  return { elapsedS, posts: sent, accepted, refused, p50Ms, p99Ms, busyShare };
}

process.on('message', async (order: Order) => {
  if (order.kind === 'prepare') {
    prepare(order.posts, order.lines);
    process.send!({});
  } else process.send!(order.kind === 'flood' ? await flood(requests, order) : await load(order));
});
process.on('disconnect', () => process.exit());
