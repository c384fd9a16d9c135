import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import { Child } from '../middleware/child.ts';
import { residentBytesOf } from '../processor.ts';
import type { World } from '../world.ts';

const SIZES = [500, 1_000, 2_000, 4_000];
const SETTLES_IN_MS = 500;

async function open(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

/** Memory of a Node app by its open streams, with the middleware and without. */
export async function streams(world: World): Promise<Figure[]> {
  const figures: Figure[] = [];
  const bytes = {} as Record<'plain' | 'timed', number[]>;
  for (const variant of ['plain', 'timed'] as const) {
    const child = new Child(path.join(import.meta.dirname, '../streamServer.ts'), variant);
    const { port } = await child.next<{ port: number }>();
    const sockets: net.Socket[] = [];
    bytes[variant] = [];
    for (const size of world.quick ? SIZES.slice(0, 2) : SIZES) {
      while (sockets.length < size) {
        const few = Array.from({ length: Math.min(100, size - sockets.length) }, () => open(port));
        sockets.push(...(await Promise.all(few)));
      }
      await wait(SETTLES_IN_MS);
      bytes[variant].push(await residentBytesOf(child.pid));
    }
    for (const socket of sockets) socket.destroy();
    await child.stop();
  }
  for (const [at, timed] of bytes.timed.entries()) {
    figures.push({
      id: `streams/${SIZES[at]}`,
      what: `memory of an app with ${SIZES[at]!.toLocaleString('en')} open streams`,
      baseline: 'without the middleware',
      unit: '×',
      rounds: [timed / bytes.plain[at]!],
      raw: { streams: SIZES[at]!, 'with MB': timed / 1e6, 'without MB': bytes.plain[at]! / 1e6 },
    });
  }
  return figures;
}
