import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseStrictly } from '../../ingest/metrics/strictParser.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { ndjson, send } from './serviceHttp.ts';
import { scrape } from './serviceMetrics.ts';

let service: RunningService;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.stop());

/** What the metrics gain while `work` runs. */
async function gained<T>(work: () => Promise<T>): Promise<(name: string, labels?: Record<string, string>) => number> {
  const before = await scrape(service);
  await work();
  const after = await scrape(service);
  return (name, labels) => after.sum(name, labels) - before.sum(name, labels);
}

describe('how a stream ended', () => {
  test.each([
    ['an end of file after a token', 'truncated', 412.3, 1],
    ['an end marker without a finish reason', 'complete', 412.3, 1],
    ['an error in the stream', 'error', 412.3, 1],
    ['left by the user', 'aborted', 412.3, 1],
    ['a proper end without a token', 'no_output', null, 0],
    ['half an event, then an end of file', 'truncated', null, 0],
  ] as const)('%s: %s, TTFT %s', async (_, status, ttftMs, samples) => {
    const key = traceId();
    const stream = ttftMs === null ? { arrivals_ms: null, chunk_tokens: null, output_tokens: null, end_ms: 30 } : {};
    const counted = await gained(() =>
      service.postBeacons(beacon({ trace_id: key, status, ...stream, ttft_ms: ttftMs })),
    );
    expect((await service.read(key)).json).toMatchObject({ status, client: { ttft_ms: ttftMs } });
    expect(counted('streams_total', { status })).toBe(1);
    expect(counted('ttft_client_seconds_count')).toBe(samples);
    expect(counted('tpot_seconds_count')).toBe(samples);
  });

  test('an open socket after the end marker is no part of the stream', async () => {
    const key = traceId();
    await service.postBeacons(beacon({ trace_id: key, end_ms: 640, since_start_ms: 120_640 }));
    expect((await service.read(key)).json.client.end_ms).toBe(640);
  });
});

test('a page that closes sends what fits a beacon, and more by fetch: batches of any size up to the limit are taken', async () => {
  const keys = Array.from({ length: 120 }, traceId);
  // About 1,000 bytes each: a batch below the 65,536 bytes of a beacon, and one above.
  const pad = (trace_id: string) => ({ ...beacon({ trace_id }), pad: '\u5317'.repeat(240) });
  const batches = [keys.slice(0, 50), keys.slice(50)].map((each) => each.map(pad));
  expect(Buffer.byteLength(ndjson(batches[0]!))).toBeLessThan(65_536);
  expect(Buffer.byteLength(ndjson(batches[1]!))).toBeGreaterThan(65_000);
  for (const batch of [...batches, batches[0]!])
    expect((await service.postBeacons(...batch)).json).toEqual({ accepted: batch.length, rejected: [] });
  expect(
    await query(service.databaseUrl, 'SELECT count(*)::int AS n FROM requests WHERE trace_id = ANY ($1::uuid[])', [
      keys,
    ]),
  ).toEqual([{ n: 120 }]);
});

describe('a machine that slept', () => {
  test('before the stream: the start is counted back from the arrival, and no clock of the page is asked', async () => {
    const key = traceId();
    const sentAtMs = Date.now();
    await service.postBeacons({ ...beacon({ trace_id: key, since_start_ms: 1_500 }), time_origin: 1_783_699_200_000 });
    const startedAtMs = Date.parse((await service.read(key)).json.started_at);
    expect(startedAtMs).toBeGreaterThanOrEqual(sentAtMs - 1_500);
    expect(startedAtMs).toBeLessThanOrEqual(Date.now() - 1_500);
  });

  test('within it: stored and marked, and no sample of anything', async () => {
    const key = traceId();
    const counted = await gained(() =>
      service.postBeacons(
        beacon({ trace_id: key, suspended: true, ttft_ms: 2_000, arrivals_ms: [2_000, 2_100, 2_200], end_ms: 2_300 }),
      ),
    );
    expect((await service.read(key)).json).toMatchObject({ flags: ['suspended'], client: { ttft_ms: 2_000 } });
    for (const name of ['ttft_client_seconds_count', 'tpot_seconds_count', 'stream_gap_max_seconds_count'])
      expect(counted(name), name).toBe(0);
  });
});

test('one key twice in a batch, with another between: the newest wins, once, and nothing is wrong with the rest', async () => {
  const [a, b] = [traceId(), traceId()];
  const at = (trace_id: string, seq: number, endMs: number) => beacon({ trace_id, seq, end_ms: endMs });
  const counted = await gained(() => service.postBeacons(at(a, 1, 700), at(b, 1, 701), at(a, 2, 702)));
  expect((await service.read(a)).json.client).toMatchObject({ seq: 2, end_ms: 702 });
  expect((await service.read(b)).json.client).toMatchObject({ seq: 1, end_ms: 701 });
  expect(counted('ttft_client_seconds_count')).toBe(2);
  expect(service.log.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
});

test('more rows than one statement has parameters for: 5,958 at once are all stored', async () => {
  const keys = Array.from({ length: 5_958 }, traceId);
  const post = (from: number, to: number) =>
    service.postTimings(...keys.slice(from, to).map((trace_id) => ({ trace_id, timing_trace: '1,2,3,4,5,6,7' })));
  const answers = await Promise.all([post(0, 2_979), post(2_979, 5_958)]);
  expect(answers.map(({ json }) => json)).toEqual(answers.map(() => ({ accepted: 2_979, rejected: [] })));
  expect(
    await query(service.databaseUrl, 'SELECT count(*)::int AS n FROM requests WHERE trace_id = ANY ($1::uuid[])', [
      keys,
    ]),
  ).toEqual([{ n: 5_958 }]);
});

test('the longest id and names: counted once, the scrape is valid, the exemplar is the key and short', async () => {
  const long = `req-${'x'.repeat(124)}`;
  const name = 'n'.repeat(128);
  const counted = await gained(async () => {
    expect((await service.postTimings(serverRecord({ trace_id: long, model: name, backend: name }))).status).toBe(202);
  });
  expect(counted('ttft_seconds_count')).toBe(1);
  const scraped = (accept: string) =>
    send(`${service.adminUrl}/metrics`, { method: 'GET', headers: { accept } }).then(({ text }) => text);
  const open = await scraped('application/openmetrics-text');
  const key: string = (await service.read(long)).json.trace_id;
  expect(() => parseStrictly(open, 'openmetrics')).not.toThrow();
  expect(open).toContain(`{trace_id="${key}"}`);
  expect(open).not.toContain(long);
  expect(await scraped('text/plain')).not.toContain(key);
});

describe('odd bodies', () => {
  const post = (body: string | Buffer, headers: Record<string, string>) =>
    service.send('/v1/beacons', { headers, body }).then(({ status }) => status);
  const good = () => JSON.stringify(beacon({ trace_id: traceId() }));

  test.each([
    ['a small body that inflates to 5 MB', 413, gzipSync(`"${'x'.repeat(5_000_000)}"`), { 'content-encoding': 'gzip' }],
    ['another charset', 415, '{}', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['an encoding that is a charset', 415, '{}', { 'content-encoding': 'utf-8' }],
    ['a number that JSON does not have', 400, '{"a":NaN}', {}],
    ['gzip that is none', 400, '{}', { 'content-encoding': 'gzip' }],
    ['gzip in gzip', 400, gzipSync(gzipSync('{}')), { 'content-encoding': 'gzip' }],
    ['two encodings', 415, gzipSync(gzipSync('{}')), { 'content-encoding': 'gzip, gzip' }],
  ] as const)('%s: %i', async (_, status, body, headers) => {
    expect(await post(body, { 'content-type': 'application/json', ...headers })).toBe(status);
  });

  test('a parameter without a name is no charset: taken', async () => {
    expect(await post(good(), { 'content-type': 'application/json; utf-8' })).toBe(202);
  });
});
