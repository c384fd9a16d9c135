import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { close, listen } from './listen.ts';
import { type GatewayOptions, startGateway } from './servedGateway.ts';

const lines: string[] = [];
let backend: Server;
let options: Omit<GatewayOptions, 'nginx'>;

beforeAll(async () => {
  backend = createServer((_request, response) => void response.end('from the backend'));
  options = {
    seed: 7,
    ingestUrl: 'http://127.0.0.1:1',
    backendPort: await listen(backend),
    logFolder: await mkdtemp(`${tmpdir()}/firsttoken-gateway-`),
    log: { write: (line) => void lines.push(line), close: async () => {} },
  };
});
afterAll(async () => {
  await close(backend);
  await rm(options.logFolder, { recursive: true, force: true });
});

test.each([
  ['is not there', undefined, /not on the PATH: (apt-get|brew) install nginx/],
  ['does not start', '/bin/false', /nginx does not start/],
])('where nginx %s, a hop of our own serves the page and the backend, and says why', async (_how, nginx, why) => {
  const gateway = await startGateway({ ...options, nginx });
  try {
    expect(gateway).toMatchObject({ about: expect.stringMatching(why), collectingPrefix: '' });
    const page = await fetch(gateway.pageUrl!);
    expect(page.headers.get('content-type')).toBe('text/html');
    const html = await page.text();
    expect(html).toContain('"endpoint":"http://127.0.0.1:1/v1/beacons"');
    expect(html).toContain('buffering_proxy');
    const script = await fetch(`${gateway.url}/chat.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript');
    expect((await script.text()).length).toBeGreaterThan(1_000);
    const answer = await fetch(`${gateway.url}/api/chat`, {
      method: 'POST',
      headers: { 'X-Trace-ID': 'ab'.repeat(16) },
    });
    expect(await answer.text()).toBe('from the backend');
    await expect.poll(() => lines.some((line) => line.includes('ab'.repeat(16)))).toBe(true);
  } finally {
    await gateway.stop();
  }
});
