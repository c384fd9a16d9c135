import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { GatewayLogLine } from '../contract/gatewayLog.ts';
import type { GatewayLog } from './gatewayLog.ts';
import { planFromHeaders } from './planHeaders.ts';

/** nginx's status for a client that did not wait for the answer. */
const CLIENT_LEFT = 499;

/**
 * The hop in front of the backend: holds each request for some milliseconds, then passes it and its stream on as the bytes come. For
 * the requests of the buffering proxy it passes the answer on in one piece, at its end. Each request gets a line in the log, in the form
 * of nginx.
 *
 * @param upstreamPort of the backend, on loopback
 * @param files served beside it, by their paths
 */
export function createGateway(
  seed: number,
  upstreamPort: number,
  log: GatewayLog,
  files: ReadonlyMap<string, string> = new Map(),
): Server {
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, response) => {
    const name = incoming.url === '/' ? 'index.html' : String(incoming.url).slice(1);
    const file = files.get(name);
    if (file !== undefined) {
      response.writeHead(200, { 'Content-Type': name.endsWith('.js') ? 'text/javascript' : 'text/html' }).end(file);
      return;
    }
    const plan = planFromHeaders(seed, incoming.headers);
    const left = new AbortController();
    const began = performance.now();
    let asked: number | undefined;
    response.once('close', () => {
      left.abort();
      const ended = performance.now();
      const line: GatewayLogLine = {
        trace_id: String(incoming.headers['x-trace-id'] ?? '-'),
        request_time: inSeconds(ended - began),
        upstream_connect_time: asked === undefined ? '-' : '0.000',
        upstream_response_time: asked === undefined ? '-' : inSeconds(ended - asked),
        status: response.headersSent ? response.statusCode : CLIENT_LEFT,
        buffering: plan.buffered ? 'on' : 'off',
      };
      log.write(JSON.stringify(line));
    });
    try {
      await wait(plan.gatewayHoldMs, undefined, { signal: left.signal });
      asked = performance.now();
      const answer = await ask(incoming, response, agent, upstreamPort);
      await (plan.buffered ? passOnAtItsEnd(answer, response) : passOn(answer, response));
    } catch {
      if (response.headersSent || left.signal.aborted) response.destroy();
      else response.writeHead(502).end();
    }
  });
  server.once('close', () => agent.destroy());
  return server;
}

async function ask(
  incoming: IncomingMessage,
  response: ServerResponse,
  agent: Agent,
  port: number,
): Promise<IncomingMessage> {
  const { method, url: path, headers } = incoming;
  const upstream = request({ agent, host: '127.0.0.1', port, method, path, headers });
  // Who leaves in front ends the generation behind.
  response.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
  const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
  // Destroyed above; whether the answer came whole is for its reader to see.
  upstream.on('error', () => undefined);
  return answer;
}

/** The framing is each hop's own. */
function startResponse(answer: IncomingMessage, response: ServerResponse): void {
  const {
    connection: _connection,
    'keep-alive': _keepAlive,
    'transfer-encoding': _framing,
    ...headers
  } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, headers);
}

function passOn(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  startResponse(answer, response);
  // A stream that breaks behind breaks in front as well: never as if it had ended.
  return new Promise((resolve, reject) => {
    pipeline(answer, response, (error) => (error ? reject(error) : resolve()));
  });
}

async function passOnAtItsEnd(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  startResponse(answer, response);
  response.end(Buffer.concat(chunks));
}

/** As nginx prints a duration. */
function inSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
