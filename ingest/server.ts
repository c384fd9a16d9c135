import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_ERROR, SECURITY_HEADERS, sendError } from './http/answers.ts';
import type { Log } from './log.ts';
import type { HotRoute } from './routes/hotRoute.ts';

/** A sender that has not finished its headers, or its request, by then is too slow or hostile. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Node looks so often for those that are over time; its default of 30 s would more than double what we allow. */
const CHECK_TIMES_EVERY_MS = 2_000;
/** Longer than the idle time of common proxies, so that they and not we close idle connections. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADERS = 100;
/** Each costs memory, also one that says nothing; more are closed at once. */
const MAX_CONNECTIONS = 20_000;

export interface Listening {
  readonly url: string;
  /** Takes no more, lets what is under way finish until `deadlineMs` from now, then cuts. */
  close(deadlineMs: number): Promise<void>;
}

/**
 * Express costs several times as much per request as the rest of the work on one event, so the addresses that take events are
 * served straight from `node:http`; everything else goes to the app.
 */
export function createServer(
  hotRoutes: ReadonlyMap<string, HotRoute>,
  app: http.RequestListener,
  log: Log,
): http.Server {
  const server = http.createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_TIMES_EVERY_MS,
    },
    (request, response) => {
      const url = request.url ?? '/';
      const query = url.indexOf('?');
      const route = hotRoutes.get(query < 0 ? url : url.slice(0, query));
      if (route === undefined) return app(request, response);
      route(request, response).catch((error) => {
        log.error('a request failed', { error });
        if (response.headersSent) response.destroy();
        else sendError(response, INTERNAL_ERROR);
      });
    },
  );
  // Node would answer by itself, without our headers.
  server.on('checkExpectation', (_request: http.IncomingMessage, response: http.ServerResponse) => {
    response.writeHead(417, { ...SECURITY_HEADERS, connection: 'close' }).end();
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** @throws the error of listening, with the variable to change named */
export async function listen(server: http.Server, host: string, port: number, variable: string): Promise<Listening> {
  await new Promise<void>((resolve, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice =
        error.code === 'EADDRINUSE'
          ? `port ${port} is taken: set ${variable} to another one, or to 0 for a free one`
          : error.message;
      fail(new Error(`cannot listen on ${host}: ${advice}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`,
    async close(deadlineMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // Connections that are kept alive close with the answer to what is under way.
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(cut);
    },
  };
}
