import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { createGzip } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { MAX_LABEL_VALUES } from '../../contract/limits.ts';
import { openService, query, type RunningService, type ServiceOptions } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { ndjson } from './serviceHttp.ts';
import { type Scrape, scrape } from './serviceMetrics.ts';

let running: RunningService[] = [];
afterEach(async () => {
  await Promise.all(running.map((service) => service.stop()));
  running = [];
});

async function open(options: ServiceOptions = {}): Promise<RunningService> {
  const service = await openService(options);
  running.push(service);
  return service;
}

describe('the rate of beacons', () => {
  const from = (service: RunningService, address: string, events = 1) =>
    service.send('/v1/beacons', {
      headers: { 'content-type': 'text/plain', 'x-forwarded-for': address },
      body: ndjson(
        Array.from({ length: events }, () => beacon({ trace_id: traceId(), arrivals_ms: null, chunk_tokens: null })),
      ),
    });

  test('is counted in events; beyond the burst: 429 with the seconds to wait', async () => {
    const service = await open({ env: { BEACON_RATE: '5' } });
    expect((await from(service, '', 15)).json).toEqual({ accepted: 15, rejected: [] });
    expect((await from(service, '', 5)).status).toBe(202);
    const refused = await from(service, '', 6);
    expect(refused).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(2);
    expect((await scrape(service)).sum('firsttoken_ingest_rejected_total', { reason: 'rate_limited' })).toBe(1);
  });

  test('a batch larger than the burst passes a full bucket, once', async () => {
    const service = await open({ env: { BEACON_RATE: '1' } });
    expect((await from(service, '', 30)).json).toEqual({ accepted: 30, rejected: [] });
    const refused = await from(service, '');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(20);
  });

  test('behind one trusted proxy the address that it appended is charged, whatever the client wrote before it', async () => {
    const service = await open({ env: { BEACON_RATE: '1', TRUST_PROXY_HOPS: '1' } });
    const answers: number[] = [];
    for (let each = 0; each < 20; each += 1) {
      const invented = [...randomBytes(4)].join('.');
      answers.push((await from(service, `${invented}, 203.0.113.9`)).status);
    }
    expect(answers.slice(0, 4)).toEqual([202, 202, 202, 202]);
    expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(14);
    expect((await from(service, '6.6.6.6, 198.51.100.7')).status).toBe(202);
  });

  test('without a proxy the header means nothing', async () => {
    const service = await open({ env: { BEACON_RATE: '1' } });
    const answers = [];
    for (let each = 0; each < 8; each += 1) answers.push((await from(service, [...randomBytes(4)].join('.'))).status);
    expect(answers.slice(0, 4)).toEqual([202, 202, 202, 202]);
    expect(answers).toContain(429);
  });

  test('the token of a server is not limited by it', async () => {
    const service = await open({ env: { BEACON_RATE: '1' } });
    for (let each = 0; each < 10; each += 1)
      expect((await service.postTimings(serverRecord({ trace_id: traceId() }))).status).toBe(202);
  });
});

describe('labels from outside', () => {
  test('10,000 beacons of as many models and routes make one series, and mint no label value', async () => {
    const service = await open();
    await service.postTimings(serverRecord({ trace_id: traceId() }));
    const before = ownSeries(await scrape(service));
    const flood = () =>
      Array.from({ length: 2_500 }, () => ({
        v: 1,
        trace_id: traceId(),
        status: 'complete',
        ttft_ms: 300,
        model: randomBytes(8).toString('hex'),
        route: `/chat/${traceId()}`,
        device: randomBytes(4).toString('hex'),
      }));
    for (let post = 0; post < 4; post += 1) expect((await service.postBeacons(...flood())).json.accepted).toBe(2_500);
    await service.postBeacons(beacon({ trace_id: traceId(), model: 'llama' }));
    const after = await scrape(service);
    expect(ownSeries(after) - before).toBeLessThan(400);
    expect(after.sum('ttft_client_seconds_count', { model: 'other', route: 'other', device: 'other' })).toBe(10_000);
    expect(after.sum('ttft_client_seconds_count', { model: 'llama' })).toBe(1);
    expect(await query(service.databaseUrl, 'SELECT label, value FROM label_values ORDER BY 1')).toEqual([
      { label: 'model', value: 'llama' },
      { label: 'route', value: '/api/chat' },
    ]);
  });

  test('servers may name 50 models, together, and the 51st is "other" in the metrics but not in its row', async () => {
    const one = await open();
    const other = await open({ databaseUrl: one.databaseUrl });
    const names = Array.from({ length: 80 }, (_, number) => `model-${number}`);
    const key = traceId();
    await Promise.all(
      names.map((model, number) =>
        (number % 2 ? one : other).postTimings(serverRecord({ trace_id: traceId(), model })),
      ),
    );
    await one.postTimings(serverRecord({ trace_id: key, model: 'the-51st' }));
    expect(
      await query(one.databaseUrl, `SELECT count(*)::int AS models FROM label_values WHERE label = 'model'`),
    ).toEqual([{ models: MAX_LABEL_VALUES }]);
    const metrics = await scrape(one, other);
    expect(metrics.sum('ttft_seconds_count')).toBe(81);
    expect(metrics.sum('ttft_seconds_count', { model: 'other' })).toBeGreaterThanOrEqual(81 - MAX_LABEL_VALUES);
    expect((await one.read(key)).json.server.model).toBe('the-51st');
  });

  test('a quote, a backslash and a line feed in a name are escaped, and 1,000 unknown addresses make no series', async () => {
    const service = await open();
    const model = 'a"b\\c\nd';
    await service.postTimings(serverRecord({ trace_id: traceId(), model }));
    const before = ownSeries(await scrape(service));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, () =>
        service.send(`/${traceId()}`, { method: 'GET', agent }).then(({ status }) => status),
      ),
    );
    agent.destroy();
    expect(new Set(statuses)).toEqual(new Set([404]));
    const after = await scrape(service);
    expect(after.sum('ttft_seconds_count', { model })).toBe(1);
    expect(ownSeries(after)).toBe(before);
  });
});

describe('large posts', () => {
  test('5,000 events in one post and 200 posts of 25 at once: every one is stored, in chunks', async () => {
    const service = await open();
    const keys = Array.from({ length: 10_000 }, traceId);
    const record = (key: string) => ({ trace_id: key, timing_trace: '1,2,3,4,5,6,7', model: 'm', status: 200 });
    expect((await service.postTimings(...keys.slice(0, 5_000).map(record))).json).toEqual({
      accepted: 5_000,
      rejected: [],
    });
    const posts = Array.from({ length: 200 }, (_, post) => keys.slice(5_000 + post * 25, 5_025 + post * 25));
    const answers = await Promise.all(posts.map((each) => service.postTimings(...each.map(record))));
    expect(answers.map(({ json }) => json)).toEqual(posts.map(() => ({ accepted: 25, rejected: [] })));
    expect(
      await query(
        service.databaseUrl,
        'SELECT count(DISTINCT trace_id)::int AS rows, sum(server_ttft_ns)::int AS ns FROM requests WHERE trace_id = ANY ($1::uuid[])',
        [keys],
      ),
    ).toEqual([{ rows: 10_000, ns: 50_000 }]);
    expect((await scrape(service)).sum('ttft_seconds_count')).toBe(10_000);
  });

  test.each([
    ['', { 'content-encoding': 'gzip' }],
    [', of which the sender announces little', { 'content-encoding': 'gzip', 'content-length': '900000' }],
  ])('2 GB of zeros, gzipped%s: 413 or a cut, in bounded memory, and the service goes on', async (_, headers) => {
    const service = await open();
    const before = process.memoryUsage.rss();
    const { status, sentBytes } = await postZeros(`${service.publicUrl}/v1/beacons`, headers);
    expect(status).toBe(413);
    expect(sentBytes).toBeLessThan(6_000_000);
    // The zeros are deflated in this same process, which takes a few MB itself.
    expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000);
    expect((await service.send('/healthz', { method: 'GET' })).status).toBe(200);
    expect((await service.postBeacons(beacon({ trace_id: traceId() }))).status).toBe(202);
  });
});

/** Node's own come and go, with each kind of garbage collection for instance. */
function ownSeries({ samples }: Scrape): number {
  return samples.filter(({ name }) => !/^(nodejs|process)_/.test(name)).length;
}

/** Sends until all is sent or the service lets go. */
function postZeros(url: string, headers: http.OutgoingHttpHeaders): Promise<{ status: number; sentBytes: number }> {
  return new Promise((resolve, fail) => {
    const request = http.request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'text/plain', ...headers },
    });
    const gzip = createGzip();
    const zeros = Buffer.alloc(1_048_576);
    const room = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
    let sentBytes = 0;
    let status: number | undefined;
    const finish = () => {
      gzip.destroy();
      request.destroy();
      if (status === undefined) fail(new Error('the connection was cut before an answer came'));
      else resolve({ status, sentBytes });
    };
    gzip.on('data', (chunk: Buffer) => {
      const fits = chunk.subarray(0, room - sentBytes);
      sentBytes += fits.length;
      if (sentBytes === room) {
        request.end(fits);
        gzip.destroy();
      } else if (!request.write(fits)) {
        gzip.pause();
        request.once('drain', () => gzip.resume());
      }
    });
    gzip.on('end', () => request.end());
    request.on('response', (response) => {
      status = response.statusCode!;
      response.on('close', finish).resume();
    });
    request.on('error', finish);
    let written = 0;
    const write = () => {
      while (written < 2_048) {
        written += 1;
        if (!gzip.write(zeros)) return void gzip.once('drain', write);
      }
      gzip.end();
    };
    write();
  });
}
