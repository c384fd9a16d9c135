import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, startChromium } from '../../demo/chromium/chromium.ts';
import { until } from '../postgres/serviceWait.ts';
import { buildSdk, type SdkFiles } from './sdkFiles.ts';

const CHUNK = Buffer.alloc(16_384, 'x');
const WHOLE_BYTES = 64 * 1024 * 1024;

let browser: Browser;
let server: http.Server;
let base: string;
/** Bytes that the server could hand to its socket, by path. */
const written = new Map<string, number>();

beforeAll(async () => {
  const sdk: SdkFiles = await buildSdk();
  server = http.createServer((request, response) => {
    const path = request.url!;
    const file = sdk.get(path);
    if (file !== undefined) return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(file);
    if (path === '/page') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title>');
    if (!path.startsWith('/flood')) return void response.writeHead(202).end('{}');
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const flood = function* () {
      for (let bytes = 0; bytes < WHOLE_BYTES; bytes += CHUNK.length) {
        written.set(path, bytes);
        yield CHUNK;
      }
    };
    // Fails when the page cancels.
    pipeline(Readable.from(flood()), response).catch(() => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.stop();
  server.closeAllConnections();
  server.close();
});

/** What has been written, once it does not grow any more. */
async function standstill(path: string): Promise<number> {
  let last = -1;
  let since = performance.now();
  await until(`${path} stands still`, () => {
    const now = written.get(path) ?? 0;
    if (now !== last) {
      last = now;
      since = performance.now();
    }
    return now > 0 && performance.now() - since > 1_000;
  });
  return last;
}

test('a page that does not read holds its server back, as it does without the SDK', async () => {
  const tab = await browser.open(`${base}/page`);
  await tab.run(`(async () => {
    window.sdk = await import('/sdk/index.js');
    window.kept = [await fetch('/flood-plain'), await sdk.tracedFetch('/flood-traced')];
  })()`);
  const plain = await standstill('/flood-plain');
  const traced = await standstill('/flood-traced');
  expect(plain).toBeLessThan(WHOLE_BYTES / 2);
  // At most the read-ahead, and what one read brings at once.
  expect(traced - plain).toBeLessThan(4 * 1024 * 1024);
  // It goes on when the page reads, and stops for good when the page cancels.
  await tab.run(`(async () => {
    const reader = kept[1].body.getReader();
    for (let bytes = 0; bytes < ${WHOLE_BYTES / 4}; ) bytes += (await reader.read()).value.length;
    await reader.cancel();
  })()`);
  expect(await standstill('/flood-traced')).toBeGreaterThan(traced);
  await tab.close();
});
