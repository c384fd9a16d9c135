import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ReceivedSpan, startTestCollector, type TestCollector } from '../../ingest/export/testCollector.ts';
import { parseStrictly } from '../../ingest/metrics/strictParser.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { AUTHORIZED, openService, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { openRaw, send } from './serviceHttp.ts';
import { scrape } from './serviceMetrics.ts';
import { until } from './serviceWait.ts';

const MS = 1_000_000n;
/** Stages of 1, 2, 3, 5, 7 and 3 ms from t0 to t6, on a machine that has been up for 104 days. */
const STAMPS =
  '9007199254740993,9007199255740993,9007199257740993,9007199260740993,9007199265740993,9007199272740993,9007199275740993';

let collector: TestCollector;
let database: TestDatabase;
let running: RunningService[] = [];
beforeEach(async () => {
  [collector, database] = await Promise.all([startTestCollector(), createDatabase()]);
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
  await collector.close();
  await database.drop();
  expect(collector.faults).toEqual([]);
});

async function open(env: NodeJS.ProcessEnv = {}): Promise<RunningService> {
  const service = await openService({
    databaseUrl: database.url,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, JOIN_WAIT: '0.5', ...env },
  });
  running.push(service);
  return service;
}
async function stop(service: RunningService): Promise<void> {
  running = running.filter((each) => each !== service);
  await service.stop();
}

/** The spans of one request, once there are so many. */
function spansOf(key: string, count: number): Promise<ReceivedSpan[]> {
  return until(`${count} spans`, () => {
    const spans = collector.spans.filter((span) => span.traceId === key);
    return spans.length >= count && spans;
  });
}
/** Name, start and end in nanoseconds from the first span's start. */
const placesOf = ([root, ...children]: readonly ReceivedSpan[]) =>
  children.map(({ name, startNs, endNs }) => [name, Number(startNs - root!.startNs), Number(endNs - root!.startNs)]);

describe('one request', () => {
  test('full: tree, ids, times and attributes', async () => {
    const service = await open();
    const key = traceId();
    const startedAtMs = Date.now() - 5_000;
    await service.postTimings(
      serverRecord({
        trace_id: key,
        timing_trace: STAMPS,
        started_at: new Date(startedAtMs).toISOString(),
        server_timing: 'queue;dur=4.5, db;dur=1.25',
        parent_span_id: '00f067aa0ba902b7',
        backend: 'gpu-03',
        variant: 'int4',
        prompt_tokens: 812,
        cached_tokens: 512,
        output_tokens: 230,
        temperature: 0.7,
        top_k: 50,
        status: 200,
      }),
    );
    await service.postBeacons(
      beacon({ trace_id: key, ttft_visible_ms: 450.1, render: { first_ms: 431.2, p50_ms: 4, max_ms: 20 } }),
    );
    const spans = await spansOf(key, 11);
    const [root, ...children] = spans;
    expect(root).toMatchObject({
      service: 'firsttoken',
      parentSpanId: '00f067aa0ba902b7',
      name: 'chat llama',
      kind: 3,
      startNs: BigInt(startedAtMs) * MS,
      endNs: BigInt(startedAtMs + 640) * MS,
      status: null,
      events: [
        { name: 'first_token', atNs: BigInt(startedAtMs) * MS + 412_300_000n },
        { name: 'first_visible_token', atNs: BigInt(startedAtMs) * MS + 450_100_000n },
      ],
    });
    expect(root!.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'llama',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.7,
      'gen_ai.request.top_k': 50,
      'gen_ai.usage.input_tokens': 812,
      'gen_ai.usage.cache_read.input_tokens': 512,
      'gen_ai.usage.output_tokens': 230,
      'gen_ai.response.time_to_first_chunk': 0.4123,
      'gen_ai.server.time_to_first_token': 0.02,
      'server.address': 'gpu-03',
      'http.route': '/api/chat',
      'http.response.status_code': 200,
      'firsttoken.view': 'client',
      'firsttoken.joined': true,
      'firsttoken.status': 'complete',
      'firsttoken.server.source': 'direct',
      'firsttoken.ttft_basis': 't1-t6',
      'firsttoken.ttft_visible_ms': 450.1,
      'firsttoken.tpot_ms': 12.5,
      'firsttoken.gap_max_ms': 62.2,
      'firsttoken.variant': 'int4',
      'firsttoken.device': 'mobile',
      'firsttoken.sub_stage_ns.db': 1_250_000,
    });
    for (const child of children) {
      expect(child).toMatchObject({ parentSpanId: root!.spanId, kind: 1, status: null, events: [] });
      expect(child.attributes).toMatchObject({ 'firsttoken.stage': child.name, placement: 'inferred' });
    }
    expect(children.at(-1)!.attributes).toMatchObject({ 'firsttoken.ttft_basis': 't1-t6' });
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(11);
    expect(placesOf(spans)).toEqual([
      ['receive', 0, 1e6],
      ['preprocess', 1e6, 3e6],
      ['kv_load', 3e6, 6e6],
      ['queue', 6e6, 10.5e6],
      ['first_token', 10.5e6, 11e6],
      ['serialize', 11e6, 18e6],
      ['send', 18e6, 21e6],
      ['network', 21e6, 412.3e6],
      ['render', 412.3e6, 431.2e6],
      ['unattributed', 431.2e6, 431.2e6],
    ]);
  });

  test('a server alone, and one that failed', async () => {
    const service = await open();
    const [fine, failed] = [traceId(), traceId()];
    await service.postTimings(
      serverRecord({ trace_id: fine, timing_trace: STAMPS }),
      serverRecord({ trace_id: failed, timing_trace: STAMPS, status: 503 }),
    );
    const spans = await spansOf(fine, 8);
    expect(spans[0]).toMatchObject({ parentSpanId: null, status: null, events: [] });
    expect(spans[0]!.attributes).toMatchObject({ 'firsttoken.view': 'server', 'firsttoken.joined': false });
    expect(spans[0]!.endNs - spans[0]!.startNs).toBe(21n * MS);
    expect(spans.map(({ name }) => name)).not.toContain('network');
    const [root] = await spansOf(failed, 8);
    expect(root).toMatchObject({ status: { code: 2, message: '503' }, attributes: { 'error.type': '503' } });
  });

  test('a client alone, whose stream was truncated', async () => {
    const service = await open();
    const key = traceId();
    await service.postBeacons(beacon({ trace_id: key, status: 'truncated' }));
    const spans = await spansOf(key, 2);
    expect(spans[0]).toMatchObject({
      name: 'chat',
      status: { code: 2, message: 'truncated' },
      attributes: { 'firsttoken.view': 'client', 'error.type': 'truncated' },
    });
    expect(placesOf(spans)).toEqual([['unattributed', 0, 412.3e6]]);
  });

  test('a client sooner than its server: no length below zero, and a mark', async () => {
    const service = await open();
    const key = traceId();
    await service.postTimings(serverRecord({ trace_id: key, timing_trace: STAMPS }));
    await service.postBeacons(beacon({ trace_id: key, ttft_ms: 10, arrivals_ms: [10, 20, 30], end_ms: 15_000 }));
    const spans = await spansOf(key, 9);
    const network = spans.find(({ name }) => name === 'network')!;
    expect(network.endNs).toBe(network.startNs);
    expect(network.attributes).toMatchObject({ 'firsttoken.clamped': true });
    expect(spans[0]!.attributes).toMatchObject({ 'firsttoken.flags': ['clock_anomaly'] });
    for (const { startNs, endNs } of spans) expect(endNs >= startNs && endNs - startNs < 3_600_000n * MS).toBe(true);
  });

  test('a half that comes after settling adds what was missing, once', async () => {
    const service = await open();
    const key = traceId();
    await service.postTimings(serverRecord({ trace_id: key, timing_trace: STAMPS }));
    const [root, ...early] = await spansOf(key, 8);
    expect(early.map(({ name }) => name)).not.toContain('network');
    const late = beacon({ trace_id: key, render: { first_ms: 431.2, p50_ms: 4, max_ms: 20 } });
    await service.postBeacons(late);
    await service.postBeacons(late);
    await service.postTimings(serverRecord({ trace_id: key, timing_trace: STAMPS }));
    await stop(service);
    const all = collector.spans.filter(({ traceId }) => traceId === key);
    expect(all.slice(8).map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['network', root!.spanId],
      ['render', root!.spanId],
    ]);
    expect(all.at(-2)!.startNs - root!.startNs).toBe(21n * MS);
  });
});

test('two instances export each request once', async () => {
  const services = [await open({ JOIN_WAIT: '3600' }), await open({ JOIN_WAIT: '3600' })];
  const keys = Array.from({ length: 200 }, traceId);
  await Promise.all([
    services[0]!.postTimings(...keys.map((trace_id) => serverRecord({ trace_id, timing_trace: STAMPS }))),
    services[1]!.postBeacons(...keys.map((trace_id) => beacon({ trace_id }))),
  ]);
  for (const service of services) await stop(service);
  const ids = collector.spans.filter(({ service }) => service === 'firsttoken').map(({ spanId }) => spanId);
  expect([ids.length, new Set(ids).size]).toEqual([200 * 9, 200 * 9]);
});

describe('exemplars', () => {
  async function exemplarsOf(service: RunningService): Promise<Set<string>> {
    const headers = { accept: 'application/openmetrics-text' };
    const { text } = await send(`${service.adminUrl}/metrics`, { method: 'GET', headers });
    const samples = [...parseStrictly(text, 'openmetrics').values()].flatMap((family) => family.samples);
    return new Set(samples.flatMap(({ exemplar }) => exemplar?.labels['trace_id'] ?? []));
  }

  test('name only traces that are exported', async () => {
    const service = await open({ TRACE_SAMPLE_RATE: '0.5', JOIN_WAIT: '3600' });
    const keys = Array.from({ length: 40 }, traceId);
    await service.postTimings(...keys.map((trace_id) => serverRecord({ trace_id })));
    await service.postBeacons(
      ...keys.map((trace_id, index) =>
        beacon({
          trace_id,
          ttft_ms: 10 * 2 ** (index % 12),
          arrivals_ms: [10 * 2 ** (index % 12)],
          end_ms: 50_000,
          chunk_tokens: [1],
        }),
      ),
    );
    const named = await exemplarsOf(service);
    await stop(service);
    const exported = new Set(collector.spans.map(({ traceId }) => traceId));
    expect(named.size).toBeGreaterThan(0);
    expect(exported.size).toBeLessThan(40);
    for (const key of named) expect(exported).toContain(key);
  });

  test('without a collector name every request: they lead to the stored one', async () => {
    const service = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: '', TRACE_SAMPLE_RATE: '0' });
    const key = traceId();
    await service.postBeacons(beacon({ trace_id: key }));
    expect(await exemplarsOf(service)).toEqual(new Set([key]));
    expect((await scrape(service)).sum('firsttoken_waiting_spans')).toBe(0);
  });
});

test('a collector that hangs is not in the way of events, and a stop does not wait for it for ever', async () => {
  collector.behave(() => 'silent');
  const service = await open({ JOIN_WAIT: '3600' });
  const tookMs: number[] = [];
  for (let post = 0; post < 30; post += 1) {
    const keys = Array.from({ length: 100 }, traceId);
    const began = performance.now();
    await service.postTimings(...keys.map((trace_id) => serverRecord({ trace_id })));
    await service.postBeacons(...keys.map((trace_id) => beacon({ trace_id })));
    tookMs.push(performance.now() - began);
  }
  expect(tookMs.sort((one, other) => one - other)[15]).toBeLessThan(2_000);
  const metrics = await scrape(service);
  expect(metrics.sum('firsttoken_waiting_spans')).toBe(3_000 * 9);
  const began = performance.now();
  await stop(service);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(service.log.find(({ message }) => message.startsWith('traces were flushed'))).toMatchObject({
    exported_spans: 0,
    dropped_spans: { shutdown: 3_000 * 9 },
  });
});

test("the service's own requests: one of the usual ones, and those that failed", async () => {
  const service = await open();
  await service.postBeacons(beacon({ trace_id: traceId() }));
  for (let post = 0; post < 20; post += 1) await service.postBeacons(beacon({ trace_id: traceId() }));
  const { socket, closed } = await openRaw(service.publicUrl);
  socket.write('POST /v1/gateway-logs?secret=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n');
  socket.end(`Authorization: ${AUTHORIZED.authorization}\r\nContent-Type: application/json\r\n\r\n{`);
  await closed;
  await stop(service);
  const own = collector.spans.filter(({ service }) => service === 'firsttoken-ingest');
  expect(own.length).toBeGreaterThanOrEqual(2);
  expect(own[0]).toMatchObject({
    name: 'POST /v1/beacons',
    kind: 2,
    parentSpanId: null,
    attributes: { 'http.request.method': 'POST', 'http.route': '/v1/beacons', 'http.response.status_code': 202 },
  });
  const cut = own.find(({ name }) => name === 'POST /v1/gateway-logs');
  expect(cut).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'connection_closed' } });
  const requests = new Set(
    collector.spans.filter(({ service }) => service === 'firsttoken').map((span) => span.traceId),
  );
  for (const span of own) expect(requests).not.toContain(span.traceId);
});

test('the headers of OTEL_EXPORTER_OTLP_HEADERS go with every export, of requests and of the service itself', async () => {
  const service = await open({ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20of-the-collector' });
  const key = traceId();
  await service.postTimings(serverRecord({ trace_id: key }));
  await service.postBeacons(beacon({ trace_id: key }));
  await spansOf(key, 1);
  await stop(service);
  expect(new Set(collector.spans.map((span) => span.service)).size).toBe(2);
  expect(collector.headers.length).toBeGreaterThan(1);
  expect(collector.headers.every(({ authorization }) => authorization === 'Bearer of-the-collector')).toBe(true);
});
