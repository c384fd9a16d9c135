import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Beacon } from '../../contract/beacon.ts';
import type { Tab } from '../../demo/chromium/chromium.ts';
import { until } from '../postgres/serviceWait.ts';
import { loadSdk, type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

/** Starts a stream in the page, under an id that outlives the page, and waits for its first tokens. */
async function startStream(tab: Tab, query: string, init = '{}'): Promise<string> {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
  await tab.run(`(() => {
    window.text = '';
    window.reading = sdk.tracedFetch('/chat?${query}', ${init}, { traceId: '${id}' })
      .then(async (response) => {
        for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
      })
      .catch((error) => { window.failure = error.name; });
  })()`);
  await until('tokens come', () => tab.run<boolean>(`text.includes('t2 ')`));
  return id;
}

const final = ({ status }: { status: string | null }): boolean => status !== null && status !== 'streaming';

test('aborted by its user', async () => {
  const tab = await stage.openPage();
  await tab.run('window.controller = new AbortController()');
  const id = await startStream(tab, 'tokens=1000&gap=20', '{ signal: controller.signal }');
  await tab.run('controller.abort(), reading');
  expect(await tab.run('failure')).toBe('AbortError');
  expect((await stage.row(id, final)).status).toBe('aborted');
  await tab.close();
});

test('its tab is closed', async () => {
  const tab = await stage.openPage();
  const id = await startStream(tab, 'tokens=1000&gap=20');
  await tab.close();
  const row = await stage.row(id, final);
  expect(row).toMatchObject({ status: 'aborted', client: { seq: 1 } });
  expect(row.client!.arrivals_ms!.length).toBeGreaterThanOrEqual(3);
});

test('its page is reloaded', async () => {
  const tab = await stage.openPage();
  const id = await startStream(tab, 'tokens=1000&gap=20');
  await tab.reload();
  expect(await stage.row(id, final)).toMatchObject({ status: 'aborted', client: { seq: 1 } });
  await tab.close();
});

test('hidden and shown again: an interim record, then the final one in its place', async () => {
  const tab = await stage.openPage();
  const id = await startStream(tab, 'tokens=100&gap=20');
  const other = await stage.browser.open(`${stage.backend.url}/other`);
  const interim = await stage.row(id, ({ status }) => status !== null);
  expect(interim).toMatchObject({ status: 'streaming', client: { seq: 1, end_ms: null } });
  await tab.show();
  await tab.run('reading');
  const row = await stage.row(id, final);
  expect(row).toMatchObject({ status: 'complete', client: { seq: 2, output_tokens: 100 } });
  expect(row.flags).toContain('hidden');
  expect(row.client!.arrivals_ms).toHaveLength(100);
  expect(row.client!.ttft_ms).toBe(interim.client!.ttft_ms);
  await other.close();
  await tab.close();
});

test('hidden, then closed: the abort comes after the interim record', async () => {
  const tab = await stage.openPage();
  const id = await startStream(tab, 'tokens=1000&gap=20');
  const other = await stage.browser.open(`${stage.backend.url}/other`);
  await stage.row(id, ({ status }) => status === 'streaming');
  await tab.close();
  expect(await stage.row(id, final)).toMatchObject({ status: 'aborted', client: { seq: 2 } });
  await other.close();
});

test('through the back/forward cache: interim when left, one final record after the return', async () => {
  const tab = await stage.openPage();
  const id = await startStream(tab, 'tokens=60&gap=20');
  await tab.goto(`${stage.backend.url}/other`);
  expect(await stage.row(id, ({ status }) => status !== null)).toMatchObject({ status: 'streaming' });
  await tab.back();
  const kept = await tab.run<boolean>(`typeof window.reading === 'object'`);
  // Chromium may let a page with an open connection go; then the interim record stays the only one.
  if (kept) {
    await tab.run('reading');
    const row = await stage.row(id, final);
    expect(['complete', 'truncated']).toContain(row.status);
    // And a stream of the restored page is measured anew.
    const second = await startStream(tab, 'tokens=10&gap=10');
    expect(await stage.row(second, final)).toMatchObject({ status: 'complete', client: { seq: 1 } });
  } else {
    await tab.run(loadSdk(stage.service));
  }
  console.info(`kept in the back/forward cache: ${kept}`);
  await tab.close();
});

test('painted frames and the connection are seen, and drawn into the timeline', async () => {
  const tab = await stage.openPage();
  const id = await startStream(tab, 'tokens=20&gap=30');
  // The browser files its own account just after the end, which a flush at once would outrun; the SDK itself waits a second.
  await tab.run('reading');
  const row = await stage.row(id, final);
  // The page came over the same connection.
  expect(row.client!.connection_ms).toMatchObject({ dns: 0, tcp: 0, tls: 0, wait: expect.any(Number) });
  expect(row.client!.connection_ms!.wait).toBeGreaterThan(20);
  expect(row.client!.render_p50_ms).toBeGreaterThan(0);
  const names = await tab.run<string[]>(`performance.getEntriesByType('measure').map(({ name }) => name)`);
  expect(names).toEqual(expect.arrayContaining([`${id} ttft`, `${id} stream`, `${id} render`]));
  await tab.close();
});

test('EventSource: the id in its address, the facts in its last event', async () => {
  const tab = await stage.openPage();
  const id = 'e5'.repeat(16);
  await tab.run(`(async () => {
    const { observeEventSource } = await import('/sdk/event-source.js');
    const source = observeEventSource(new EventSource('/chat?tokens=20&gap=10&facts&trace_id=${id}'));
    await new Promise((resolve) => source.addEventListener('firsttoken', resolve));
    source.close();
  })()`);
  const row = await stage.row(id, ({ joined, server }) => joined && server?.source === 'direct');
  expect(row).toMatchObject({ status: 'complete', client: { output_tokens: 20, output_tokens_source: 'usage' } });
  const [beacon] = await tab.run<Beacon[]>('beacons');
  expect(beacon!.timing_trace).toMatch(/^(\d+,){6}[1-9]\d*$/);
  await tab.close();
});

test('an EventSource that nobody closes reconnects: another attempt, under an id of its own', async () => {
  const tab = await stage.openPage();
  const id = 'e6'.repeat(16);
  await tab.run(`(async () => {
    const { observeEventSource } = await import('/sdk/event-source.js');
    const source = observeEventSource(new EventSource('/chat?tokens=5&gap=10&trace_id=${id}'));
    await new Promise((resolve) => {
      let ends = 0;
      source.addEventListener('message', ({ data }) => data === '[DONE]' && ++ends === 2 && resolve());
    });
    source.close();
    await sdk.flush();
  })()`);
  const beacons = await tab.run<Beacon[]>('beacons');
  expect(beacons).toMatchObject([
    { trace_id: id, call_id: id, status: 'complete', output_tokens: 5 },
    { call_id: id, status: 'complete', output_tokens: 5 },
  ]);
  const again = await stage.row(beacons[1]!.trace_id, final);
  expect(again.client!.call_id).toBe(id);
  // It waited since the break, the browser's pause included.
  expect(again.client!.ttft_ms).toBeGreaterThan(1_000);
  await tab.close();
});

test('one file, from a script element', async () => {
  const tab = await stage.browser.open(`${stage.backend.url}/other`);
  await tab.run(`new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { type: 'module', onerror: reject });
    script.textContent = \`
      import * as sdk from '/sdk/firsttoken.js';
      sdk.configure({ endpoint: '${stage.service.publicUrl}/v1/beacons' });
      const pieces = (await sdk.tracedFetch('/chat?tokens=5', {}, { traceId: '${'f1'.repeat(16)}' })).body
        .pipeThrough(new TextDecoderStream()).pipeThrough(sdk.coalesce()).pipeThrough(sdk.pace());
      window.text = '';
      for await (const piece of pieces) text += piece;
      window.done();\`;
    window.done = resolve;
    document.head.append(script);
  })`);
  expect(await tab.run('text')).toContain('[DONE]');
  expect((await stage.row('f1'.repeat(16), final)).status).toBe('complete');
  await tab.close();
});
