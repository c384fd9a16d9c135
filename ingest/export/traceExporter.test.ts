import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { METRICS } from '../../contract/metrics.ts';
import { createLog } from '../log.ts';
import { exampleClient, exampleServer } from '../pipeline/exampleHalves.ts';
import { joinHalf } from '../pipeline/join.ts';
import type { RequestRow } from '../pipeline/row.ts';
import { createMetrics } from '../registry.ts';
import { createTracesPoster } from './postTraces.ts';
import { startTestCollector, type TestCollector } from './testCollector.ts';
import { TraceExporter, type TraceExporterOptions } from './traceExporter.ts';

/** The stop's budget for traces; where all must arrive a busy machine gets more. */
const FLUSH_MS = 6_000;
const BUSY_FLUSH_MS = 30_000;

let collector: TestCollector;
let log: { message: string; [fact: string]: unknown }[];
beforeEach(async () => {
  collector = await startTestCollector();
  log = [];
});
afterEach(async () => {
  await collector.close();
  expect(collector.faults).toEqual([]);
});

/** Joined and settled: a root and eight stages. */
const EXAMPLE = {
  ...joinHalf(
    joinHalf(null, exampleServer({ model: 'llama', route: '/api/chat', backend: 'gpu-03' })),
    exampleClient({ ttft_ms: 412.3, end_ms: 6_080, since_start_ms: 6_100 }),
  ),
  settled: true,
};
const SPANS = 9;
function settled(fields: Partial<RequestRow> = {}): RequestRow {
  return { ...EXAMPLE, trace_id: randomBytes(16).toString('hex'), ...fields };
}

function open(options: Partial<TraceExporterOptions> = {}) {
  const metrics = createMetrics();
  const exporter = new TraceExporter({
    poster: createTracesPoster(collector.endpoint),
    sampleRate: 1,
    metrics,
    log: createLog('debug', (line) => log.push(JSON.parse(line))),
    ...options,
  });
  const count = async (name: string): Promise<number> => {
    const lines = (await metrics.render('text')).split('\n').filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  return {
    exporter,
    exported: () => count(METRICS.spansExported.name),
    dropped: (reason = '') => count(`${METRICS.spansDropped.name}${reason && `{reason="${reason}"}`}`),
    waiting: () => count(METRICS.waitingSpans.name),
  };
}

describe('a stop with 10,000 requests waiting accounts for every span', () => {
  const REQUESTS = 10_000;
  const ALL = REQUESTS * SPANS;

  function fill(exporter: TraceExporter): void {
    for (let request = 0; request < REQUESTS; request += 1) exporter.take(null, settled());
  }

  test('a healthy collector gets them all, each once', async () => {
    const { exporter, exported, dropped, waiting } = open();
    fill(exporter);
    await exporter.close(BUSY_FLUSH_MS);
    expect([await exported(), await dropped(), await waiting()]).toEqual([ALL, 0, 0]);
    expect(collector.spans).toHaveLength(ALL);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(ALL);
    expect(log.at(-1)).toMatchObject({ message: 'traces were flushed', exported_spans: ALL });
  }, 60_000);

  test('one that answers 503 twice gets them all, and is not asked before the time it named', async () => {
    collector.behave((request) =>
      request <= 2 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200, body: {} },
    );
    const { exporter, exported, dropped } = open();
    fill(exporter);
    await exporter.close(BUSY_FLUSH_MS);
    expect([await exported(), await dropped()]).toEqual([ALL, 0]);
    expect(collector.spans).toHaveLength(ALL);
  }, 60_000);

  test('one that never answers costs the budget and no more, and all are counted as dropped', async () => {
    collector.behave(() => 'silent');
    const { exporter, exported, dropped, waiting } = open();
    fill(exporter);
    const began = performance.now();
    await exporter.close(1_500);
    expect(performance.now() - began).toBeLessThan(3_000);
    expect([await exported(), await dropped('shutdown'), await dropped(), await waiting()]).toEqual([0, ALL, ALL, 0]);
    expect(log.at(-1)).toMatchObject({ level: 'warn', exported_spans: 0, dropped_spans: { shutdown: ALL } });
  }, 30_000);

  test('what settles after the stop is counted too', async () => {
    const { exporter, dropped } = open();
    await exporter.close(FLUSH_MS);
    exporter.take(null, settled());
    expect(await dropped('shutdown')).toBe(SPANS);
  });
});

describe('trying again', () => {
  test.each([429, 502, 503, 504])('after %i', async (status) => {
    collector.behave((request) => ({ status: request === 1 ? status : 200 }));
    const { exporter, exported } = open();
    exporter.take(null, settled());
    await exporter.close(FLUSH_MS);
    expect([await exported(), collector.requestsAtMs.length]).toEqual([SPANS, 2]);
  });

  test.each([400, 401, 404, 413, 500])('not after %i', async (status) => {
    collector.behave(() => ({ status }));
    const { exporter, dropped } = open();
    exporter.take(null, settled());
    await exporter.close(FLUSH_MS);
    expect([await dropped('rejected'), collector.requestsAtMs.length]).toEqual([SPANS, 1]);
    expect(log).toContainEqual(
      expect.objectContaining({ message: 'traces are not exported', why: `it answered ${status}` }),
    );
  });

  test('with rising distance, and not before the time that was named', async () => {
    collector.behave((request) => {
      if (request > 3) return { status: 200 };
      return request === 3 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 503 };
    });
    const { exporter, exported } = open();
    exporter.take(null, settled());
    await exporter.close(FLUSH_MS);
    const gaps = collector.requestsAtMs.slice(1).map((at, index) => at - collector.requestsAtMs[index]!);
    expect(await exported()).toBe(SPANS);
    expect(gaps[0]).toBeGreaterThanOrEqual(120);
    expect(gaps[1]).toBeGreaterThanOrEqual(245);
    expect(gaps[2]).toBeGreaterThanOrEqual(995);
  });

  test('a time beyond the stop ends it at once', async () => {
    collector.behave(() => ({ status: 503, headers: { 'retry-after': '50' } }));
    const { exporter, dropped } = open();
    exporter.take(null, settled());
    const began = performance.now();
    await exporter.close(FLUSH_MS);
    expect(await dropped('shutdown')).toBe(SPANS);
    expect(performance.now() - began).toBeLessThan(FLUSH_MS / 2);
  });

  test('where nobody listens', async () => {
    const poster = createTracesPoster('http://127.0.0.1:9');
    const { exporter, dropped } = open({ poster });
    exporter.take(null, settled());
    await exporter.close(300);
    expect(await dropped('shutdown')).toBe(SPANS);
  });

  test('what a collector rejects of a request is counted as dropped', async () => {
    collector.behave(() => ({
      status: 200,
      body: { partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } },
    }));
    const { exporter, exported, dropped } = open();
    exporter.take(null, settled());
    await exporter.close(FLUSH_MS);
    expect([await exported(), await dropped('rejected')]).toEqual([SPANS - 3, 3]);
    expect(log).toContainEqual(expect.objectContaining({ why: 'too old' }));
  });
});

describe('what is exported', () => {
  test('nothing before it settles, and once', async () => {
    const { exporter } = open();
    const row = settled();
    exporter.take(null, { ...row, settled: false });
    exporter.take({ ...row, settled: false }, row);
    exporter.take(row, { ...row, output_tokens: 7 });
    await exporter.close(FLUSH_MS);
    expect(collector.spans).toHaveLength(SPANS);
  });

  test('a late half adds the children that were missing, under the same root', async () => {
    const { exporter, exported } = open();
    const row = settled();
    const early = { ...row, network_ns: null, render_ns: null, ttft_ms: null, status: null, seq: null };
    exporter.take(null, early);
    exporter.take(early, { ...row, render_ns: 5 });
    await exporter.close(FLUSH_MS);
    const [root] = collector.spans;
    expect(collector.spans.slice(SPANS - 1).map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['network', root!.spanId],
      ['render', root!.spanId],
    ]);
    expect(await exported()).toBe(SPANS + 1);
  });

  test('only sampled traces; who asks learns which', async () => {
    const { exporter, dropped } = open({ sampleRate: 0.5 });
    const rows = Array.from({ length: 400 }, () => settled());
    for (const row of rows) exporter.take(null, row);
    await exporter.close(FLUSH_MS);
    const sampled = rows.filter((row) => exporter.exports(row.trace_id)).map((row) => row.trace_id);
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set(sampled));
    expect(sampled.length).toBeGreaterThan(100);
    expect(await dropped()).toBe(0);
  });
});

describe('a collector that hangs', () => {
  test('memory stays bounded, what is over is counted, slow and failed requests are kept', async () => {
    const REQUESTS = 15_000;
    collector.behave(() => 'silent');
    const { exporter, exported, dropped, waiting } = open({ maxWaitingSpans: 20_000 });
    const notable = [settled({ status: 'truncated' }), settled({ ttft_ms: 1_500 }), settled({ server_ttft_ns: 2e9 })];
    const tookMs: number[] = [];
    for (let request = 0; request < REQUESTS; request += 1) {
      const row = request % 5_000 === 4_999 ? notable[request % 3]! : settled();
      const began = performance.now();
      exporter.take(null, row);
      tookMs.push(performance.now() - began);
      if (request % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // What waits, and four requests of about 512 spans under way.
    expect(await waiting()).toBeLessThanOrEqual(20_000 + 4 * (512 + SPANS));
    expect((await waiting()) + (await dropped('queue_full'))).toBe(REQUESTS * SPANS);
    expect(tookMs.sort((one, other) => one - other)[REQUESTS / 2]).toBeLessThan(0.2);

    collector.behave(() => ({ status: 200 }));
    collector.cut();
    await exporter.close(FLUSH_MS);
    expect((await exported()) + (await dropped('queue_full'))).toBe(REQUESTS * SPANS);
    const received = new Set(collector.spans.map(({ traceId }) => traceId));
    for (const row of notable) expect(received).toContain(row.trace_id);
  }, 30_000);
});
