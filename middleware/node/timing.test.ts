import http from 'node:http';
import net from 'node:net';
import { afterEach, expect, describe as group, test } from 'vitest';
import { parseTimingTrace } from '../../contract/timingTrace.ts';
import { currentTraceId, describe, factsEvent, mark, span } from './index.ts';
import { ask, startTimedServer, type TimedServer } from './timedServer.ts';

const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
const TOKEN = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const USAGE =
  'data: {"choices":[],"usage":{"prompt_tokens":812,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":512}}}\n\n';
const DONE = 'data: [DONE]\n\n';
const SSE = { 'Content-Type': 'text/event-stream' };

let server: TimedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const stampsOf = (trace: unknown): bigint[] => String(trace).split(',').map(BigInt);
const taken = (trace: unknown): string =>
  stampsOf(trace)
    .map((stamp, at) => (stamp > 0n ? String(at) : '-'))
    .join('');

async function start(...args: Parameters<typeof startTimedServer>): Promise<TimedServer> {
  server = await startTimedServer(...args);
  return server;
}

/** What the ingest has got once the app's middleware is closed. */
async function recordsOf({ timing, ingest }: TimedServer) {
  await timing.close();
  return ingest.records;
}

/** A promise and what settles it, to order two sides of a test without sleeping. */
function signal() {
  let give!: () => void;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give, given };
}

group('stamps', () => {
  test('all seven, in order, in the record; those there are at the first chunk in the header', async () => {
    const { url } = await start(async (req, res) => {
      for await (const _ of req);
      mark('preprocess');
      mark('kv_load');
      mark('first_token');
      res.writeHead(200, SSE);
      res.write(TOKEN);
      res.end(USAGE + DONE);
    });
    const before = Date.now();
    const answer = await ask(url, { method: 'POST' }, '{"messages":[]}');
    expect(answer.body).toBe(TOKEN + USAGE + DONE);
    expect(taken(answer.headers['x-timing-trace'])).toBe('012345-');
    const [record, ...others] = await recordsOf(server!);
    expect(others).toEqual([]);
    expect(taken(record?.timing_trace)).toBe('0123456');
    expect(parseTimingTrace(String(record?.timing_trace))).toMatchObject({ ok: true, value: { ttftBasis: 't1-t6' } });
    expect(stampsOf(record?.timing_trace).slice(0, 6)).toEqual(stampsOf(answer.headers['x-timing-trace']).slice(0, 6));
    expect(record).toMatchObject({ status: 200, output_tokens: 9, prompt_tokens: 812, cached_tokens: 512 });
    expect(record?.trace_id).toBe(answer.headers['x-trace-id']);
    expect(Date.parse(String(record?.started_at))).toBeGreaterThanOrEqual(before);
    expect(Date.parse(String(record?.started_at))).toBeLessThanOrEqual(Date.now());
  });

  test('a role frame first leaves t4 to t6 at zero in the header, the record has them', async () => {
    const { url } = await start((_req, res) => {
      mark('preprocess');
      res.writeHead(200, SSE);
      res.write(ROLE);
      setImmediate(() => {
        mark('first_token');
        res.write(TOKEN);
        res.end(DONE);
      });
    });
    const answer = await ask(url);
    expect(taken(answer.headers['x-timing-trace'])).toBe('012----');
    const [record] = await recordsOf(server!);
    expect(taken(record?.timing_trace)).toBe('012-456');
    expect(record?.output_tokens).toBeUndefined();
  });

  test('a stream that never bears a token has no t5 and t6', async () => {
    const { url } = await start((_req, res) => {
      res.writeHead(200, SSE);
      res.write(': comment\n\n');
      res.end(ROLE + DONE);
    });
    await ask(url);
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('01-----');
  });

  test('an event split over chunks counts when its blank line enters', async () => {
    const { url } = await start((_req, res) => {
      res.writeHead(200, SSE);
      res.write(TOKEN.slice(0, 30));
      mark('first_token');
      res.end(Buffer.from(TOKEN.slice(30)));
    });
    const answer = await ask(url);
    expect(answer.body).toBe(TOKEN);
    expect(taken(answer.headers['x-timing-trace'])).toBe('01-----');
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('01--456');
  });

  test('a mark is taken once, and not after a later stage', async () => {
    const results: boolean[] = [];
    const { url } = await start((_req, res) => {
      results.push(mark('kv_load'), mark('kv_load'), mark('preprocess'));
      res.end('{}');
      results.push(mark('first_token'));
    });
    await ask(url);
    expect(results).toEqual([true, false, false, false]);
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('01-3-56');
    expect(mark('preprocess')).toBe(false);
  });

  test('t1 is the last byte of the body, though the app reads it later', async () => {
    const arrived = signal();
    const { port } = await start(async (req, res) => {
      const push = req.push;
      req.push = (chunk, encoding) => {
        const result = push.call(req, chunk, encoding);
        if (chunk === null) arrived.give();
        return result;
      };
      await arrived.given;
      mark('preprocess');
      for await (const _ of req);
      res.end('{}');
    });
    await ask(`http://127.0.0.1:${port}`, { method: 'POST' }, '{"a":1}');
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('012--56');
  });

  test('t1 stays zero when the body never ends', async () => {
    const { port } = await start((_req, res) => {
      res.end('{}');
    });
    const socket = net.connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('0----56');
  });

  test.each([
    ['an error', 500, 'GET'],
    ['a redirect', 302, 'GET'],
    ['no content', 204, 'GET'],
    ['HEAD', 200, 'HEAD'],
  ])('%s bears no token', async (_name, status, method) => {
    const { url } = await start((_req, res) => {
      res.statusCode = status;
      res.end('{"error":{}}');
    });
    const answer = await ask(url, { method });
    expect(answer.status).toBe(status);
    expect(taken(answer.headers['x-timing-trace'])).toBe('01-----');
    const [record] = await recordsOf(server!);
    expect(record?.status).toBe(status);
    expect(taken(record?.timing_trace)).toBe('01-----');
  });

  test.each([
    ['compressed above us, cannot be read', true, '01-----'],
    ['compressed below us, is read as it comes', false, '01---56'],
  ])('an event stream that is %s', async (_name, above, stamps) => {
    const { url } = await start(
      () => undefined,
      {},
      (timed) => (req, res) => {
        const { writeHead } = res;
        // What compresses names its encoding only when the start is written.
        res.writeHead = (...args: unknown[]) => {
          res.setHeader('Content-Encoding', 'gzip');
          return Reflect.apply(writeHead, res, args);
        };
        timed(req, res, () => {
          if (above) res.setHeader('Content-Encoding', 'gzip');
          res.writeHead(200, SSE);
          res.end(TOKEN);
        });
      },
    );
    await ask(url);
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe(stamps);
  });

  test("an app's own function decides, and may fail", async () => {
    const { url } = await start(
      (_req, res) => {
        res.writeHead(200, SSE);
        res.write('data: bad\n\n');
        res.end('data: token\n\n');
      },
      {
        tokens: ({ data }) => {
          if (data === 'bad') throw new Error('cannot read this');
          return { token: true, visible: true, reasoning: false, terminator: false, last: false, error: false };
        },
      },
    );
    expect((await ask(url)).body).toBe('data: bad\n\ndata: token\n\n');
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('01---56');
  });
});

test("an engine's own facts fill what the app marks nothing of, beside what it says itself", async () => {
  const { url } = await start((_req, res) => {
    describe({ server_timing: 'db;dur=3' });
    res.writeHead(200, SSE);
    res.write(TOKEN);
    res.write(
      'data: {"choices":[],"usage":{"completion_tokens":9},"metrics":{"queue_time_ms":1.5,"time_to_first_token_ms":2}}\n\n',
    );
    res.end(DONE);
  });
  await ask(url);
  expect(await recordsOf(server!)).toMatchObject([
    { output_tokens: 9, server_timing: 'db;dur=3, queue;dur=1.5, first_token;dur=3.5' },
  ]);
});

test('an answer in one piece of JSON tells its usage', async () => {
  const { url } = await start((_req, res) => {
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.write('{"choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tok');
    res.end('ens":8,"completion_tokens":9}}');
  });
  await ask(url);
  const [record] = await recordsOf(server!);
  expect(record).toMatchObject({ prompt_tokens: 8, output_tokens: 9 });
  expect(taken(record?.timing_trace)).toBe('01---56');
});

test('an EventSource gets the stamps as the last event of its stream', async () => {
  const { url } = await start((_req, res) => {
    res.writeHead(200, SSE);
    res.write(TOKEN);
    res.end(factsEvent());
  });
  const { body } = await ask(`${url}/?trace_id=from-the-page`);
  const [, json] = /\n\nevent: firsttoken\ndata: (.*)\n\n$/.exec(body) ?? [];
  const facts = JSON.parse(json ?? '');
  const [record] = await recordsOf(server!);
  expect(facts).toEqual({ trace_id: 'from-the-page', timing_trace: record?.timing_trace });
  expect(taken(facts.timing_trace)).toBe('01---56');
  expect(factsEvent()).toBe('');
});

group('the start of the response', () => {
  test('leaves with the first chunk, when that is written', async () => {
    const read = signal();
    const { url } = await start(async (_req, res) => {
      res.writeHead(200, SSE);
      res.write(TOKEN);
      await read.given;
      res.end(DONE);
    });
    await new Promise<void>((resolve, reject) => {
      http
        .get(url, { agent: false }, (res) => {
          expect(taken(res.headers['x-timing-trace'])).toBe('01---5-');
          res.once('data', (chunk) => {
            expect(String(chunk)).toBe(TOKEN);
            read.give();
          });
          res.on('end', resolve);
        })
        .on('error', reject);
    });
  });

  test.each<[string, (res: http.ServerResponse) => void]>([
    ['flushHeaders before writeHead', (res) => res.setHeader('Content-Type', 'text/event-stream').flushHeaders()],
    ['flushHeaders after writeHead', (res) => res.writeHead(200, SSE).flushHeaders()],
    ['an empty chunk', (res) => res.writeHead(200, SSE).write('')],
  ])('leaves at %s, with the stamps there are', async (_name, flush) => {
    const seen = signal();
    const { url } = await start(async (_req, res) => {
      mark('preprocess');
      flush(res);
      await seen.given;
      res.end(TOKEN);
    });
    await new Promise<void>((resolve, reject) => {
      http
        .get(url, { agent: false }, (res) => {
          expect(taken(res.headers['x-timing-trace'])).toBe('012----');
          seen.give();
          res.resume().on('end', resolve);
        })
        .on('error', reject);
    });
    expect(taken((await recordsOf(server!))[0]?.timing_trace)).toBe('012--56');
  });

  test('leaves after holdMs, with stamps taken since writeHead', async () => {
    const seen = signal();
    const { url } = await start(
      async (_req, res) => {
        res.writeHead(200, SSE);
        mark('preprocess');
        await seen.given;
        res.end(TOKEN);
      },
      { holdMs: 20 },
    );
    await new Promise<void>((resolve, reject) => {
      http
        .get(url, { agent: false }, (res) => {
          expect(taken(res.headers['x-timing-trace'])).toBe('012----');
          seen.give();
          res.resume().on('end', resolve);
        })
        .on('error', reject);
    });
  });

  test('is not held where holdMs is 0: it leaves with the first chunk, as Node has it', async () => {
    const { url } = await start(
      async (_req, res) => {
        res.writeHead(200, SSE);
        await new Promise((resolve) => setImmediate(resolve));
        mark('preprocess');
        res.end(TOKEN);
      },
      { holdMs: 0 },
    );
    expect(taken((await ask(url)).headers['x-timing-trace'])).toBe('012--5-');
  });

  test('the headers stand there once, also where the app sent its own', async () => {
    const { url } = await start((_req, res) => {
      res.setHeader('X-Timing-Trace', '1,2,3,4,5,6,7');
      res.writeHead(200, { 'x-timing-trace': '1,2,3,4,5,6,7', 'x-trace-id': 'its-own' });
      res.end('x');
    });
    const { rawHeaders } = await ask(url, { headers: { 'X-Trace-ID': 'given' } });
    const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => name === 'x-timing-trace')).toHaveLength(1);
    expect(rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'x-trace-id') + 1]).toBe('its-own');
    expect(rawHeaders).not.toContain('1,2,3,4,5,6,7');
  });

  test('after writeHead the app sees it sent, as without us', async () => {
    const errors: unknown[] = [];
    const { url } = await start((_req, res) => {
      res.writeHead(200);
      errors.push(res.headersSent);
      for (const late of [() => res.setHeader('a', 'b'), () => res.writeHead(500)]) {
        try {
          late();
        } catch (error) {
          errors.push((error as NodeJS.ErrnoException).code);
        }
      }
      res.end();
    });
    expect((await ask(url)).status).toBe(200);
    expect(errors).toEqual([true, 'ERR_HTTP_HEADERS_SENT', 'ERR_HTTP_HEADERS_SENT']);
  });

  test('a wrong header throws where the app wrote it', async () => {
    const { url } = await start((_req, res) => {
      expect(() => res.writeHead(200, { bad: 'a\nb' })).toThrow(/Invalid character/);
      expect(() => res.writeHead(99)).toThrow(RangeError);
      res.writeHead(503).end('x');
    });
    const answer = await ask(url);
    expect(answer.status).toBe(503);
    expect(taken(answer.headers['x-timing-trace'])).toBe('01-----');
  });

  test('early hints and 100-continue pass', async () => {
    const { url } = await start(async (req, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' });
      for await (const _ of req);
      res.end('done');
    });
    const seen: number[] = [];
    const body = await new Promise<string>((resolve, reject) => {
      const req = http.request(url, { method: 'POST', agent: false, headers: { Expect: '100-continue' } }, (res) => {
        let text = '';
        res.on('data', (chunk) => {
          text += chunk;
        });
        res.on('end', () => resolve(text));
      });
      req.on('information', ({ statusCode }) => seen.push(statusCode));
      req.on('continue', () => req.end('body'));
      req.on('error', reject);
      req.flushHeaders();
    });
    expect(body).toBe('done');
    expect(seen).toContain(103);
  });
});

group('one record per request', () => {
  test('when the client leaves in mid-stream', async () => {
    const gone = signal();
    const { url, ingest } = await start((_req, res) => {
      res.writeHead(200, SSE);
      res.write(TOKEN);
      res.on('close', () => {
        res.write(TOKEN);
        res.end(DONE);
        gone.give();
      });
    });
    http
      .get(url, { agent: false }, (res) => res.on('error', () => undefined).once('data', () => res.destroy()))
      .on('error', () => undefined);
    await gone.given;
    await recordsOf(server!);
    expect(ingest.records).toHaveLength(1);
    expect(taken(ingest.records[0]?.timing_trace)).toBe('01---56');
    expect(ingest.records[0]?.status).toBe(200);
  });

  test('when the client leaves before the response starts: no status', async () => {
    const gone = signal();
    const entered = signal();
    const { url, ingest } = await start((_req, res) => {
      res.on('close', gone.give);
      entered.give();
    });
    const req = http.get(url, { agent: false }).on('error', () => undefined);
    await entered.given;
    req.destroy();
    await gone.given;
    await recordsOf(server!);
    expect(ingest.records).toHaveLength(1);
    expect(ingest.records[0]).not.toHaveProperty('status');
  });

  test('also when the middleware stands there twice', async () => {
    const { url } = await start(
      (_req, res) => res.end('x'),
      {},
      (timed) => (req, res) => timed(req, res, () => timed(req, res, () => res.end('x'))),
    );
    await ask(url);
    expect(await recordsOf(server!)).toHaveLength(1);
  });

  test('without an ingest only the headers', async () => {
    const { url } = await start((_req, res) => res.end('x'), { ingestUrl: undefined });
    const answer = await ask(url);
    expect(taken(answer.headers['x-timing-trace'])).toBe('01---5-');
    expect(await recordsOf(server!)).toEqual([]);
    expect(server!.timing.stats).toEqual({ sent: 0, dropped: 0, failed: 0, waiting: 0 });
  });

  test('described fields, from the option and during the request; what the ingest would refuse stays out', async () => {
    const { url } = await start(
      (_req, res) => {
        describe({ tier: 'vip', output_tokens: 7, model: 'from-handler' });
        res.end('x');
      },
      { describe: (req) => ({ model: 'from-option', route: req.url ?? '', top_k: 1.5, batch_size: -1, variant: '' }) },
    );
    await ask(`${url}/api/chat`);
    const [record] = await recordsOf(server!);
    expect(record).toMatchObject({ tier: 'vip', output_tokens: 7, model: 'from-handler', route: '/api/chat' });
    for (const name of ['top_k', 'batch_size', 'variant']) expect(record).not.toHaveProperty(name);
  });

  test('a describe option that throws costs its fields only', async () => {
    const { url } = await start((_req, res) => res.end('x'), {
      describe: () => {
        throw new Error('no body');
      },
    });
    await ask(url);
    expect(await recordsOf(server!)).toHaveLength(1);
  });
});

group('context', () => {
  test('sub-stages: nested, concurrent, of one name, failed, and more than sixteen', async () => {
    const { url } = await start(async (_req, res) => {
      const tick = () => new Promise((resolve) => setImmediate(resolve));
      const value = await span('retrieval', async () => {
        await Promise.all([span('db', tick), span('db', tick)]);
        return span('auth', () => 42);
      });
      expect(value).toBe(42);
      expect(() =>
        span('sync-failure', () => {
          throw new Error('a');
        }),
      ).toThrow('a');
      await expect(
        span('failure', async () => {
          throw new Error('b');
        }),
      ).rejects.toThrow('b');
      span('', () => 0);
      span('x'.repeat(65), () => 0);
      for (let name = 0; name < 20; name++) span(`n${name}`, () => 0);
      span('db', () => 0);
      res.end('x');
    });
    await ask(url);
    const { sub_stages: subStages = {} } = (await recordsOf(server!))[0]!;
    expect(Object.keys(subStages!)).toEqual([
      'db',
      'auth',
      'retrieval',
      'sync-failure',
      'failure',
      ...Array.from({ length: 11 }, (_, name) => `n${name}`),
    ]);
    for (const ns of Object.values(subStages!)) expect(Number.isSafeInteger(ns) && ns >= 0).toBe(true);
    expect(span('outside', () => 1)).toBe(1);
  });

  test('requests at the same time do not mix', async () => {
    const all = signal();
    let entered = 0;
    const { url } = await start(async (req, res) => {
      const own = String(req.headers['x-trace-id']);
      if (++entered === 20) all.give();
      await all.given;
      describe({ model: own });
      if (Number(own.slice(-1)) % 2 === 0) mark('preprocess');
      await span(own, () => new Promise((resolve) => setImmediate(resolve)));
      res.end(currentTraceId());
    });
    const ids = Array.from({ length: 20 }, (_, at) => at.toString(16).padStart(32, 'a'));
    const answers = await Promise.all(ids.map((id) => ask(url, { headers: { 'X-Trace-ID': id } })));
    expect(answers.map(({ body }) => body)).toEqual(ids);
    const records = await recordsOf(server!);
    expect(records).toHaveLength(20);
    for (const { trace_id, model, sub_stages, timing_trace } of records) {
      expect(model).toBe(trace_id);
      expect(Object.keys(sub_stages!)).toEqual([trace_id]);
      expect(taken(timing_trace)[2]).toBe(Number(trace_id.slice(-1)) % 2 === 0 ? '2' : '-');
    }
  });

  test('listeners of the body and of the response know their request, also on a connection that is used again', async () => {
    const seen: unknown[][] = [];
    const { url } = await start((req, res) => {
      const ids: unknown[] = [req.headers['x-trace-id']];
      req.on('data', () => ids.push(currentTraceId()));
      req.on('end', () => {
        ids.push(currentTraceId());
        res.end('x');
      });
      res.on('close', () => seen.push([...ids, currentTraceId()]));
    });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (const id of ['a', 'b', 'c'].map((digit) => digit.repeat(32))) {
      await ask(url, { agent, method: 'POST', headers: { 'X-Trace-ID': id } }, 'body');
    }
    agent.destroy();
    await recordsOf(server!);
    expect(seen).toHaveLength(3);
    for (const ids of seen) expect(new Set(ids).size).toBe(1);
    expect(currentTraceId()).toBeUndefined();
  });
});
