import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Beacon } from '../../contract/beacon.ts';
import type { Tab } from '../../demo/chromium/chromium.ts';
import { type Backend, startBackend } from './backend.ts';
import { buildSdk } from './sdkFiles.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
/** Another origin, with the CORS headers that we document. */
let api: Backend;
let tab: Tab;
const closers: (() => Promise<void>)[] = [];

const cors = (): Record<string, string> => ({
  'access-control-allow-origin': stage.backend.url,
  'access-control-allow-headers': 'x-trace-id, traceparent',
  'access-control-expose-headers': 'x-trace-id, x-timing-trace, server-timing',
  'access-control-max-age': '600',
});

beforeAll(async () => {
  stage = await startStage();
  closers.push(() => stage.stop());
  api = await startBackend({ sdk: await buildSdk(), cors: { ...cors(), 'timing-allow-origin': '*' } });
  closers.push(() => api.stop());
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});
beforeEach(async () => {
  (api.asked as unknown[]).length = 0;
  tab = await stage.openPage();
});

async function read(target: string): Promise<Beacon> {
  await tab.run(`(async () => {
    await (await sdk.tracedFetch('${target}/chat?tokens=5')).text();
    // The next task: the browser files its account of the connection after the end.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sdk.flush();
  })()`);
  return (await tab.run<Beacon[]>('beacons')).at(-1)!;
}

test('another origin gets no header of ours and no preflight; its answer names the trace', async () => {
  const beacon = await read(api.url);
  expect(api.asked.map(({ line }) => line)).toEqual(['GET /chat']);
  expect(Object.keys(api.asked[0]!.headers)).not.toEqual(expect.arrayContaining(['traceparent']));
  expect(api.asked[0]!.headers['x-trace-id']).toBeUndefined();
  expect(beacon.status).toBe('complete');
  // The middleware makes an id where none comes, and tells it.
  expect(beacon.trace_id).toMatch(/^[\da-f]{32}$/);
  expect(beacon.timing_trace).toMatch(/^(\d+,){6}\d+$/);
  await tab.close();
});

test('a listed origin gets both headers, after one preflight', async () => {
  await tab.run(`sdk.configure({ propagateTo: ['${api.url}'] })`);
  const beacon = await read(api.url);
  const again = await read(api.url);
  expect(api.asked.map(({ line }) => line)).toEqual(['OPTIONS /chat', 'GET /chat', 'GET /chat']);
  expect(api.asked.slice(1).map(({ headers }) => headers['x-trace-id'])).toEqual([beacon.trace_id, again.trace_id]);
  expect(api.asked[1]!.headers.traceparent).toContain(beacon.trace_id);
  await tab.close();
});

test('the connection to another origin is told where it allows it, first new, then reused; elsewhere it is unknown', async () => {
  // An origin of its own, to which the browser has no connection yet.
  const fresh = await startBackend({ sdk: await buildSdk(), cors: { ...cors(), 'timing-allow-origin': '*' } });
  const silent = await startBackend({ sdk: await buildSdk(), cors: cors() });
  try {
    const made = (await read(fresh.url)).connection_ms!;
    expect(made.tcp).toBeGreaterThan(0);
    expect(made.wait).toBeGreaterThan(0);
    expect(made.tls).toBe(0);
    expect((await read(fresh.url)).connection_ms).toMatchObject({ dns: 0, tcp: 0, tls: 0 });
    expect(await read(silent.url)).not.toHaveProperty('connection_ms');
  } finally {
    await tab.close();
    await fresh.stop();
    await silent.stop();
  }
});

test('the page of another origin that the ingest does not list loses its beacons, and nothing else', async () => {
  await tab.run(`sdk.configure({ endpoint: '${api.url}/nowhere' })`);
  const beacon = await read(stage.backend.url);
  expect(beacon.status).toBe('complete');
  await tab.close();
});
