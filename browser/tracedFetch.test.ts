import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Beacon } from '../contract/beacon.ts';
import { parseTraceparent } from '../contract/traceId.ts';
import { configure, flush, observeResponse, tracedFetch } from './index.ts';

/** A backend and an ingest in one, over real HTTP. */
let server: http.Server;
let base: string;
let handler: http.RequestListener;
const beacons: Beacon[] = [];
const requests: http.IncomingMessage[] = [];

beforeAll(async () => {
  server = http.createServer(async (request, response) => {
    if (request.url !== '/v1/beacons') {
      requests.push(request);
      return handler(request, response);
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    for (const line of body.trim().split('\n')) beacons.push(JSON.parse(line));
    response.writeHead(202).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  beacons.length = requests.length = 0;
  handler = answer;
  configure({ endpoint: `${base}/v1/beacons`, propagateTo: [base], sampleRate: 1 });
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await flush();
});

const EVENTS = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n';
const answer: http.RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-timing-trace': '1,2,3,4,5,6,7', 'x-own': 'kept' });
  response.end(EVENTS);
};

async function reported(): Promise<Beacon[]> {
  await vi.waitFor(async () => {
    await flush();
    expect(beacons).not.toEqual([]);
  });
  return beacons;
}

describe('the answer', () => {
  test('is what fetch gives', async () => {
    const plain = await fetch(`${base}/chat`);
    const traced = await tracedFetch(`${base}/chat`);
    for (const name of ['url', 'redirected', 'type', 'status', 'statusText', 'ok'] as const) {
      expect([name, traced[name]]).toEqual([name, plain[name]]);
    }
    expect(traced).toBeInstanceOf(Response);
    expect([...traced.headers.keys()]).toEqual([...plain.headers.keys()]);
    const copy = traced.clone();
    expect(copy.url).toBe(plain.url);
    expect(await traced.text()).toBe(await plain.text());
    expect(await copy.text()).toBe(EVENTS);
    expect(traced.bodyUsed).toBe(true);
    expect(await reported()).toMatchObject([{ status: 'complete', timing_trace: '1,2,3,4,5,6,7', output_tokens: 1 }]);
  });

  test('after a redirect names the address that answered', async () => {
    handler = (request, response) =>
      request.url === '/old' ? response.writeHead(307, { location: '/new' }).end() : answer(request, response);
    const traced = await tracedFetch(`${base}/old`);
    expect([traced.url, traced.redirected]).toEqual([`${base}/new`, true]);
    await traced.text();
  });

  test('with an error status is untouched and reported as an error', async () => {
    handler = (_, response) => response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":1}');
    const traced = await tracedFetch(`${base}/chat`);
    expect(await traced.json()).toEqual({ error: 1 });
    const [beacon] = await reported();
    expect(beacon).toMatchObject({ status: 'error' });
    expect(beacon!.ttft_ms).toBeUndefined();
  });

  test('without a body is none', async () => {
    handler = (_, response) => response.writeHead(204).end();
    expect((await tracedFetch(`${base}/chat`)).body).toBeNull();
    expect(await reported()).toMatchObject([{ status: 'no_output' }]);
  });

  test('that breaks off breaks off for the app, after what had come', async () => {
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(EVENTS.slice(0, 48), () => response.destroy());
    };
    const reader = (await tracedFetch(`${base}/chat`)).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(EVENTS.slice(0, 48));
    await expect(reader.read()).rejects.toThrow(TypeError);
    expect(await reported()).toMatchObject([{ status: 'truncated', output_tokens: 1 }]);
  });
});

describe('a request', () => {
  test('that fails fails as with fetch', async () => {
    const dead = http.createServer().listen(0, '127.0.0.1');
    await once(dead, 'listening');
    const url = `http://127.0.0.1:${(dead.address() as AddressInfo).port}/`;
    await new Promise((resolve) => dead.close(resolve));
    await expect(tracedFetch(url)).rejects.toThrow('fetch failed');
    expect(await reported()).toMatchObject([{ status: 'error' }]);
  });

  test.each([[undefined], ['my reason']])('that is aborted fails with its reason (%s)', async (reason) => {
    const controller = new AbortController();
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(EVENTS.slice(0, 48));
    };
    const response = await tracedFetch(`${base}/chat`, { signal: controller.signal });
    const reader = response.body!.getReader();
    await reader.read();
    controller.abort(reason);
    await expect(reader.read()).rejects.toEqual(reason ?? expect.objectContaining({ name: 'AbortError' }));
    expect(await reported()).toMatchObject([{ status: 'aborted', output_tokens: 1 }]);
  });

  test('that is aborted before its answer', async () => {
    await expect(tracedFetch(`${base}/chat`, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(await reported()).toMatchObject([{ status: 'aborted' }]);
  });

  test('whose answer the app cancels is aborted, and the server sees it', async () => {
    let onLeft = () => {};
    const left = new Promise<void>((resolve) => {
      onLeft = resolve;
    });
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(EVENTS.slice(0, 48));
      response.on('close', onLeft);
    };
    const response = await tracedFetch(`${base}/chat`);
    for await (const _ of response.body!) break;
    await left;
    expect(await reported()).toMatchObject([{ status: 'aborted', output_tokens: 1 }]);
  });

  test('with a wrong address or header fails as with fetch, and is not measured', async () => {
    await expect(tracedFetch('http://')).rejects.toThrow(TypeError);
    await expect(tracedFetch(`${base}/`, { headers: { 'bad name': 'x' } })).rejects.toThrow(TypeError);
    await flush();
    expect(beacons).toEqual([]);
  });

  test('made as a Request keeps all it has', async () => {
    let body = '';
    handler = async (request, response) => {
      for await (const chunk of request) body += chunk;
      answer(request, response);
    };
    const request = new Request(`${base}/chat`, { method: 'POST', body: 'question', headers: { 'x-app': '1' } });
    await (await tracedFetch(request)).text();
    expect(requests[0]!.method).toBe('POST');
    expect(requests[0]!.headers).toMatchObject({ 'x-app': '1', 'x-trace-id': expect.any(String) });
    expect([body, request.bodyUsed]).toEqual(['question', true]);
  });
});

describe('trace headers', () => {
  test('both, with one id, to listed origins', async () => {
    await (await tracedFetch(new URL(`${base}/chat`), { headers: [['x-app', '1']] })).text();
    const { 'x-trace-id': id, traceparent, 'x-app': own } = requests[0]!.headers;
    const parent = parseTraceparent(String(traceparent));
    expect(parent).toMatchObject({ ok: true, value: { traceId: id } });
    expect([own, String(traceparent).slice(-2)]).toEqual(['1', '01']);
    expect(await reported()).toMatchObject([{ trace_id: id }]);
  });

  test('none elsewhere; then the answer may name the trace', async () => {
    configure({ propagateTo: [] });
    handler = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-trace-id': 'theirs' }).end(EVENTS);
    await (await tracedFetch(`${base}/chat`, { headers: { 'x-app': '1' } })).text();
    expect(Object.keys(requests[0]!.headers)).not.toEqual(expect.arrayContaining(['x-trace-id']));
    expect(requests[0]!.headers.traceparent).toBeUndefined();
    expect(await reported()).toMatchObject([{ trace_id: 'theirs' }]);
  });

  test('of the app stay as they are, and name the trace', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
    await (await tracedFetch(`${base}/chat`, { headers: { traceparent } })).text();
    expect(requests[0]!.headers).toMatchObject({ traceparent, 'x-trace-id': '0af7651916cd43dd8448eb211c80319c' });
    await (await tracedFetch(`${base}/chat`, { headers: { 'X-Trace-ID': 'chatcmpl-1' } })).text();
    expect(requests[1]!.headers).toMatchObject({ 'x-trace-id': 'chatcmpl-1' });
    expect(requests[1]!.headers.traceparent).toBeUndefined();
  });

  test('say that a trace is not sampled, of which nothing is measured', async () => {
    configure({ sampleRate: 0 });
    await (await tracedFetch(`${base}/chat`)).text();
    expect(String(requests[0]!.headers.traceparent).slice(-2)).toBe('00');
    await flush();
    expect(beacons).toEqual([]);
  });
});

test('attempts of one call have an id each, and share the call id', async () => {
  for (let attempt = 0; attempt < 2; attempt++) {
    await (await tracedFetch(`${base}/chat`, { headers: { 'Idempotency-Key': 'call-1' } })).text();
  }
  await vi.waitFor(async () => {
    await flush();
    expect(beacons).toHaveLength(2);
  });
  expect(new Set(beacons.map(({ trace_id }) => trace_id)).size).toBe(2);
  expect(beacons.map(({ call_id }) => call_id)).toEqual(['call-1', 'call-1']);
});

test('can stand in the place of fetch itself', async () => {
  vi.stubGlobal('fetch', tracedFetch);
  expect(await (await fetch(`${base}/chat`)).text()).toBe(EVENTS);
});

test('a header that two proxies wrote does not spoil the beacon', async () => {
  handler = (_, response) => {
    response.setHeader('x-timing-trace', ['1,2,3', '4,5,6,7']);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(EVENTS);
  };
  await (await tracedFetch(`${base}/chat`)).text();
  expect((await reported())[0]!.timing_trace).toBeUndefined();
});

test('the facts that come as a last event stand for the header', async () => {
  handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${EVENTS}event: firsttoken\ndata: {"timing_trace":"1,2,3,4,5,6,9"}\n\n`);
  };
  await (await tracedFetch(`${base}/chat`)).text();
  expect(await reported()).toMatchObject([{ timing_trace: '1,2,3,4,5,6,9' }]);
});

test('an app function that throws costs its event alone', async () => {
  const response = await tracedFetch(`${base}/chat`, undefined, {
    tokensOf: ({ data }) => {
      if (data !== '[DONE]') throw new Error('mine');
      return { terminator: true };
    },
    onBeacon: () => {
      throw new Error('mine too');
    },
  });
  expect(await response.text()).toBe(EVENTS);
  expect(await reported()).toMatchObject([{ status: 'no_output' }]);
});

test('observeResponse: the id of the answer, and the time of whoever asked', async () => {
  const startedAt = performance.now() - 5000;
  handler = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-trace-id': 'ab'.repeat(16) }).end(EVENTS);
  const response = observeResponse(await fetch(`${base}/chat`), { startedAt });
  expect(await response.text()).toBe(EVENTS);
  const [beacon] = await reported();
  expect(beacon!.trace_id).toBe('ab'.repeat(16));
  expect(beacon!.ttft_ms).toBeGreaterThan(5000);

  const used = await fetch(`${base}/chat`);
  await used.text();
  expect(observeResponse(used, { startedAt })).toBe(used);
  const locked = await fetch(`${base}/chat`);
  const reader = locked.body!.getReader();
  expect(observeResponse(locked, { startedAt })).toBe(locked);
  await reader.cancel();
});
