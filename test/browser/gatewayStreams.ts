import { expect } from 'vitest';
import type { Beacon } from '../../contract/beacon.ts';
import type { RequestAnswer } from '../../contract/request.ts';
import { until } from '../postgres/serviceWait.ts';
import { type GatewayStage, isWhole, type SentStream } from './gatewayStage.ts';

const STREAMS = 200;
const AT_ONCE = 2;
export const TOKENS = 20;

/** What a reader without the SDK saw of a stream, by hand. */
interface PlainReading extends SentStream {
  readonly id: string;
}

function quantile(values: readonly number[], share: number): number {
  const rising = [...values].sort((one, other) => one - other);
  return rising[Math.min(rising.length - 1, Math.floor(share * rising.length))]!;
}

/** In the page: reads so many streams with the SDK, and half as many by hand in between. @returns those read by hand */
const READ_ALL = `(async () => {
  const post = (body) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const prompt = { messages: [{ role: 'user', content: 'Count.' }], stream: true, stream_options: { include_usage: true } };
  const plain = [];
  const readByHand = async () => {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
    const init = post(prompt);
    init.headers['X-Trace-ID'] = id;
    const startedAt = performance.now();
    const response = await fetch('/api/chat', init);
    const decoder = new TextDecoder();
    const times = [];
    for await (const chunk of response.body) {
      const at = performance.now();
      if (decoder.decode(chunk).includes('"content":"token')) times.push(at);
    }
    plain.push({ id, ttftMs: times[0] - startedAt, tpotMs: (times.at(-1) - times[0]) / ${TOKENS - 1} });
  };
  // The first requests of a server and of a connection are slow by themselves.
  await Promise.all(Array.from({ length: ${AT_ONCE} }, readByHand));
  plain.length = 0;
  let left = ${STREAMS};
  const one = async () => {
    while (left-- > 0) {
      const response = await sdk.tracedFetch('/api/chat', post(prompt));
      for await (const chunk of response.body) answer.textContent = chunk.length;
      if (left % 2) await readByHand();
    }
  };
  await Promise.all(Array.from({ length: ${AT_ONCE} }, one));
  await sdk.flush();
  return plain;
})()`;

/**
 * Reads 200 streams through nginx: the page's times agree with the backend's own, and every row has its three halves.
 *
 * The limits are those of a machine at rest. Streams read by hand in between say how much of it was at rest: what a limit is passed by
 * must be the hand's as well.
 */
export async function expectTimesToAgree(stage: GatewayStage): Promise<void> {
  const tab = await stage.openPage();
  const plain = await tab.run<PlainReading[]>(READ_ALL);
  const beacons = await tab.run<Beacon[]>('beacons');
  await tab.close();
  expect(new Set(beacons.map(({ trace_id }) => trace_id)).size).toBe(STREAMS);
  const sent = await stage.backend.sent();

  const rows: RequestAnswer[] = [];
  for (const { trace_id } of beacons) rows.push(await stage.row(trace_id, isWhole));
  for (const row of rows) {
    expect(row).toMatchObject({ status: 'complete', server: { ttft_basis: 't1-t6' }, gateway: { status: 200 } });
    // The flag of an anomaly is not looked at: nginx's whole milliseconds can exceed what loopback took. The exact check is below: none is negative.
    expect(row.flags).not.toContain('coalesced');
    expect(row.client!.output_tokens).toBe(TOKENS);
  }
  const excessMs = rows.map(({ client, server, stages_ns }) => {
    return client!.ttft_ms! - (server!.ttft_ns! + stages_ns.receive!) / 1e6;
  });
  const tpotErrors = rows.map((row) => Math.abs(row.client!.tpot_ms! / sent.get(row.trace_id)!.tpotMs - 1));
  const handExcessMs = plain.map(({ id, ttftMs }) => ttftMs - sent.get(id)!.ttftMs);
  const handErrors = plain.map(({ id, tpotMs }) => Math.abs(tpotMs / sent.get(id)!.tpotMs - 1));

  const figures = JSON.stringify({
    sdk: { excessMs: [0, 0.5, 0.99].map((share) => quantile(excessMs, share)), tpotError: quantile(tpotErrors, 0.5) },
    hand: {
      excessMs: [0, 0.5, 0.99].map((share) => quantile(handExcessMs, share)),
      tpotError: quantile(handErrors, 0.5),
    },
  });
  console.info(figures);
  expect(quantile(excessMs, 0), figures).toBeGreaterThanOrEqual(0);
  expect(quantile(excessMs, 0.5), figures).toBeLessThanOrEqual(Math.max(5, quantile(handExcessMs, 0.5) + 2));
  expect(quantile(excessMs, 0.99), figures).toBeLessThanOrEqual(Math.max(20, quantile(handExcessMs, 0.99) * 1.5));
  for (const share of [0.5, 0.95]) {
    const limit = Math.max(0.02, quantile(handErrors, share) * 1.5);
    expect(quantile(tpotErrors, share), figures).toBeLessThanOrEqual(limit);
  }
}

/** What becomes of a stream while it runs, and what its one record then says. */
export const INTERRUPTIONS = ['aborted', 'closed', 'reloaded', 'hidden and shown'] as const;
export type Interruption = (typeof INTERRUPTIONS)[number];

/** Starts a long stream, interrupts it, and expects one right record, with its three halves. */
export async function expectOneRecord(stage: GatewayStage, interruption: Interruption): Promise<void> {
  const tab = await stage.openPage();
  const id = crypto.randomUUID().replaceAll('-', '');
  const tokens = interruption === 'hidden and shown' ? 120 : 2_000;
  await tab.run(`(() => {
    window.text = '';
    window.controller = new AbortController();
    const body = JSON.stringify({ messages: [], tokens: ${tokens}, stream: true, stream_options: { include_usage: true } });
    const headers = { 'Content-Type': 'application/json', 'X-Demo-Tokens': '${tokens}' };
    const init = { method: 'POST', headers, body, signal: controller.signal };
    window.reading = sdk.tracedFetch('/api/chat', init, { traceId: '${id}' })
      .then(async (response) => {
        for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
      })
      .catch((error) => { window.failure = error.name; });
  })()`);
  await until('tokens come', () => tab.run<boolean>(`text.split('"content":"token').length > 3`));

  if (interruption === 'hidden and shown') {
    const other = await stage.browser.open(`${stage.url}/other.html`);
    const interim = await stage.row(id, ({ status }) => status !== null);
    expect(interim).toMatchObject({ status: 'streaming', client: { seq: 1, end_ms: null } });
    await tab.show();
    await tab.run('reading.then(() => sdk.flush())');
    const row = await stage.row(id, isWhole);
    expect(row).toMatchObject({
      status: 'complete',
      client: { seq: 2, output_tokens: tokens },
      gateway: { status: 200 },
    });
    expect(row.flags).toContain('hidden');
    expect(row.client!.ttft_ms).toBe(interim.client!.ttft_ms);
    await other.close();
    await tab.close();
    return;
  }
  if (interruption === 'aborted') {
    await tab.run('controller.abort(), reading.then(() => sdk.flush())');
    expect(await tab.run('failure')).toBe('AbortError');
    await tab.close();
  } else if (interruption === 'closed') {
    await tab.close();
  } else {
    await tab.reload();
    await tab.close();
  }
  const row = await stage.row(id, isWhole);
  expect(row).toMatchObject({ status: 'aborted', client: { seq: 1 }, server: { ttft_basis: 't1-t6' } });
  expect(row.client!.arrivals_ms!.length).toBeGreaterThanOrEqual(3);
  expect(row.flags).not.toContain('clock_anomaly');
}
