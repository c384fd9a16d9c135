import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { gzipSync } from 'node:zlib';

export interface Sent {
  readonly method?: string;
  /** A list of pairs where a name must stand on two lines. */
  readonly headers?: http.OutgoingHttpHeaders | readonly [string, string][];
  readonly body?: string | Buffer;
  /** Kept alive by this agent; without one each request has a connection of its own. */
  readonly agent?: http.Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** One real HTTP request. Rejects when the connection breaks before the answer is complete. */
export function send(url: string, { method = 'POST', headers = {}, body, agent }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, fail) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    // Node adds no Host to a list.
    const given: http.OutgoingHttpHeaders | string[] = isList(headers)
      ? ['Host', new URL(url).host, ...headers.flat()]
      : { ...length, ...headers };
    const request = http.request(url, { method, headers: given, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode!, headers: response.headers, text, json: parsed(text) });
      });
    });
    request.on('error', fail);
    request.end(body);
  });
}

function isList(headers: NonNullable<Sent['headers']>): headers is readonly [string, string][] {
  return Array.isArray(headers);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function ndjson(events: readonly unknown[]): string {
  return events.map((event) => JSON.stringify(event)).join('\n');
}

export function gzipped(text: string | Buffer): { body: Buffer; headers: http.OutgoingHttpHeaders } {
  return { body: gzipSync(text), headers: { 'content-encoding': 'gzip' } };
}

/** A connection on which a test writes bytes itself. */
export interface RawConnection {
  readonly socket: net.Socket;
  /** All that has come so far. */
  received(): string;
  /** Resolves when the other side has closed; a reset counts. */
  readonly closed: Promise<void>;
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  return { socket, received: () => text, closed };
}
