import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { flood } from './flood.ts';

let server: http.Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(listener: http.RequestListener): Promise<number> {
  server = http.createServer(listener);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const posts = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    Buffer.from(`POST /${at} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}`),
  );

test('posts are due by the clock; what is refused is sent again, also where its connection was closed', async () => {
  const seen = new Map<string, number>();
  const port = await listen((request, response) => {
    const times = (seen.get(request.url!) ?? 0) + 1;
    seen.set(request.url!, times);
    if (times === 1) response.writeHead(503, { connection: 'close' }).end('{}');
    else response.writeHead(202).end('{}');
  });
  const result = await flood(posts(500), { port, connections: 50, seconds: 0.5, ratePerS: 200 });
  expect(result.unsent).toBe(0);
  expect(result.accepted).toBeGreaterThan(35);
  expect(result.refused['503']).toBeGreaterThan(35);
  expect(result.accepted + result.refused['503']!).toBeLessThanOrEqual(105);
  expect(Math.max(...seen.values())).toBe(2);
});

test('one that finds no socket free is given up', async () => {
  const port = await listen((_request, response) => setTimeout(() => response.writeHead(202).end('{}'), 1_300));
  const result = await flood(posts(20), { port, connections: 4, seconds: 0.5, ratePerS: 100 });
  expect(result.accepted).toBe(4);
  expect(result.unsent).toBeGreaterThan(30);
});
