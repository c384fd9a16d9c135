import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type IngestDouble, startIngestDouble } from './ingestDouble.ts';
import { type TimingHandler, type TimingOptions, timing } from './timing.ts';

type Handler = (req: http.IncomingMessage, res: http.ServerResponse) => unknown;

/** A real server whose requests pass the middleware, and the ingest that it reports to. For tests. */
export interface TimedServer {
  readonly port: number;
  readonly url: string;
  readonly timing: TimingHandler;
  readonly ingest: IngestDouble;
  close(): Promise<void>;
}

/** @param listener makes the server's listener from the middleware; by default it calls `handler` behind it */
export async function startTimedServer(
  handler: Handler,
  options: TimingOptions = {},
  listener: (timed: TimingHandler) => Handler = (timed) => (req, res) => timed(req, res, () => handler(req, res)),
): Promise<TimedServer> {
  const ingest = await startIngestDouble();
  const timed = timing({ ingestUrl: ingest.url, token: 'write-token', ...options });
  const server = http.createServer(listener(timed));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    timing: timed,
    ingest,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await timed.close();
      await ingest.close();
    },
  };
}

export interface Response {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly chunks: Buffer[];
  readonly body: string;
}

/** Sends one request on a connection of its own and reads the whole answer. */
export function ask(url: string, options: http.RequestOptions = {}, body?: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const req = http.request(url, { agent: false, ...options }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const { statusCode: status, headers, rawHeaders } = res;
        resolve({ status, headers, rawHeaders, chunks, body: Buffer.concat(chunks).toString() });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}
