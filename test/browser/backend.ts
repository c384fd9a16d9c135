import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { factsEvent, mark, timing } from '../../middleware/node/index.ts';
import type { SdkFiles } from './sdkFiles.ts';

/** What the backend itself saw of one stream it sent, by its own clock, milliseconds. */
export interface SentStream {
  /** From the request to the first token handed to the network stack. */
  readonly ttftMs: number;
  readonly tpotMs: number;
  readonly headers: http.IncomingHttpHeaders;
}

export interface Backend {
  readonly url: string;
  /** Streams that were sent to their end, by trace id. */
  readonly sent: ReadonlyMap<string, SentStream>;
  /** `METHOD path` and headers of every request but those for the page and its scripts. */
  readonly asked: readonly { readonly line: string; readonly headers: http.IncomingHttpHeaders }[];
  stop(): Promise<void>;
}

export interface BackendOptions {
  readonly sdk: SdkFiles;
  readonly ingestUrl?: string;
  readonly token?: string;
  /** Headers of every answer, preflights included; without them other origins' pages get nothing. */
  readonly cors?: Record<string, string>;
}

const number = (query: URLSearchParams, name: string, standard: number): number => Number(query.get(name) ?? standard);

/**
 * A page with the SDK, and a streaming backend with the Node middleware.
 *
 * `/chat?prefill=40&tokens=30&gap=12` answers as OpenAI's chat completions do: after `prefill` ms the first of so many tokens, then one
 * every `gap` ms. `&end=none` never ends, `&facts` ends with the facts event.
 */
export async function startBackend({ sdk, ingestUrl, token, cors = {} }: BackendOptions): Promise<Backend> {
  const timed = timing({ ingestUrl, token, describe: () => ({ model: 'tiny', route: '/chat' }) });
  const sent = new Map<string, SentStream>();
  const asked: { line: string; headers: http.IncomingHttpHeaders }[] = [];

  const chat = async (request: http.IncomingMessage, response: http.ServerResponse, query: URLSearchParams) => {
    const enteredAt = performance.now();
    const [tokens, gapMs] = [number(query, 'tokens', 20), number(query, 'gap', 10)];
    mark('preprocess');
    await wait(number(query, 'prefill', 30));
    mark('kv_load');
    mark('first_token');
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...cors });
    let firstAt = 0;
    let lastAt = 0;
    for (let index = 0; index < tokens && !response.destroyed; index++) {
      if (index > 0) await wait(gapMs);
      response.write(`data: {"choices":[{"index":0,"delta":{"content":"t${index} "}}]}\n\n`);
      lastAt = performance.now();
      firstAt ||= lastAt;
    }
    if (query.get('end') === 'none') return;
    response.end(
      `data: {"choices":[],"usage":{"completion_tokens":${tokens},"prompt_tokens":7}}\n\n` +
        `data: [DONE]\n\n${query.has('facts') ? factsEvent() : ''}`,
    );
    const id = String(request.headers['x-trace-id'] ?? query.get('trace_id'));
    const tpotMs = (lastAt - firstAt) / (tokens - 1);
    sent.set(id, { ttftMs: firstAt - enteredAt, tpotMs, headers: request.headers });
  };

  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://here');
    const file = sdk.get(pathname);
    if (file !== undefined) return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(file);
    if (pathname === '/page' || pathname === '/other') {
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>chat</title>');
    }
    asked.push({ line: `${request.method} ${pathname}`, headers: request.headers });
    if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end();
    if (pathname === '/chat') {
      return timed(request, response, () => void chat(request, response, searchParams).catch(() => response.destroy()));
    }
    response.writeHead(404).end();
  });
  // One packet a token: a kernel that waits for more would measure itself.
  server.on('connection', (socket) => socket.setNoDelay(true));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    asked,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await timed.close();
    },
  };
}
