import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Beacon } from '../../contract/beacon.ts';
import { type Stage, startStage } from './stage.ts';

const STREAMS = 200;
const AT_ONCE = 2;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

/** What a reader without the SDK saw of a stream, by hand. */
interface PlainReading {
  readonly id: string;
  readonly ttftMs: number;
  readonly tpotMs: number;
}

interface Figures {
  /** Of the reader's TTFT over the server's own, milliseconds. */
  readonly excessMs: { readonly min: number; readonly p50: number; readonly p99: number };
  /** Relative, of the reader's TPOT against the server's own. */
  readonly tpotError: { readonly p50: number; readonly p95: number };
}

function quantile(values: readonly number[], share: number): number {
  const rising = [...values].sort((one, other) => one - other);
  return rising[Math.min(rising.length - 1, Math.floor(share * rising.length))]!;
}

function figuresOf(excess: readonly number[], errors: readonly number[]): Figures {
  return {
    excessMs: { min: quantile(excess, 0), p50: quantile(excess, 0.5), p99: quantile(excess, 0.99) },
    tpotError: { p50: quantile(errors, 0.5), p95: quantile(errors, 0.95) },
  };
}

// The same streams are read by hand in between. A machine that is busy with other things delays both alike, and only what the SDK
// sees later than the hand is the SDK's: a limit that the hand breaks as well is moved to where the hand is.
test(`${STREAMS} streams: the page's times agree with the server's own, and every row is joined`, {
  retry: 1,
}, async () => {
  const tab = await stage.openPage();
  const plain = await tab.run<PlainReading[]>(`(async () => {
    const plain = [];
    const readByHand = async (path) => {
      const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
      const startedAt = performance.now();
      const response = await fetch(path, { headers: { 'X-Trace-ID': id } });
      const decoder = new TextDecoder();
      const times = [];
      for await (const chunk of response.body) {
        const at = performance.now();
        if (decoder.decode(chunk).includes('delta')) times.push(at);
      }
      plain.push({ id, ttftMs: times[0] - startedAt, tpotMs: (times.at(-1) - times[0]) / 19 });
    };
    let left = ${STREAMS};
    const one = async () => {
      while (left-- > 0) {
        const path = '/chat?prefill=' + (20 + left % 40) + '&tokens=20&gap=12';
        const response = await sdk.tracedFetch(path);
        for await (const chunk of response.body) document.title = chunk.length;
        if (left % 2) await readByHand(path);
      }
    };
    await Promise.all(Array.from({ length: ${AT_ONCE} }, one));
    await sdk.flush();
    return plain;
  })()`);
  const beacons = await tab.run<Beacon[]>('beacons');
  expect(beacons).toHaveLength(STREAMS);
  expect(new Set(beacons.map(({ trace_id }) => trace_id)).size).toBe(STREAMS);

  const excess: number[] = [];
  const errors: number[] = [];
  for (const { trace_id } of beacons) {
    const row = await stage.row(trace_id, ({ joined, server }) => joined && server?.source === 'direct');
    expect(row.status).toBe('complete');
    expect(row.flags).not.toContain('clock_anomaly');
    expect(row.server!.ttft_basis).toBe('t1-t6');
    excess.push(row.client!.ttft_ms! - (row.server!.ttft_ns! + row.stages_ns.receive!) / 1e6);
    errors.push(Math.abs(row.client!.tpot_ms! / stage.backend.sent.get(trace_id)!.tpotMs - 1));
  }
  const sdk = figuresOf(excess, errors);
  const sentBy = ({ id }: PlainReading) => stage.backend.sent.get(id)!;
  const hand = figuresOf(
    plain.map((reading) => reading.ttftMs - sentBy(reading).ttftMs),
    plain.map((reading) => Math.abs(reading.tpotMs / sentBy(reading).tpotMs - 1)),
  );
  const figures = JSON.stringify({ sdk, hand });
  console.info(figures);
  expect(sdk.excessMs.min, figures).toBeGreaterThanOrEqual(0);
  expect(sdk.excessMs.p50, figures).toBeLessThanOrEqual(Math.max(5, hand.excessMs.p50 + 2));
  expect(sdk.excessMs.p99, figures).toBeLessThanOrEqual(Math.max(20, hand.excessMs.p99 * 1.5));
  expect(sdk.tpotError.p50, figures).toBeLessThanOrEqual(Math.max(0.02, hand.tpotError.p50 * 1.5));
  expect(sdk.tpotError.p95, figures).toBeLessThanOrEqual(Math.max(0.02, hand.tpotError.p95 * 1.5));
});
