import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { mark, timing } from '../../middleware/node/index.ts';

const EVENTS = 12;
/** Wide enough that a busy machine does not read two events at once for no fault of a proxy. */
const GAP_MS = 60;

export interface StreamingApp {
  readonly host: string;
  stop(): Promise<void>;
}

/** An application with the middleware: `/chat` streams with it, `/bare` the same without. Pages of every origin may call it. */
export async function startApp(ingestUrl: string, token: string): Promise<StreamingApp> {
  const timed = timing({ ingestUrl, token, describe: () => ({ model: 'tiny', route: '/chat' }) });
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const cors = { 'access-control-allow-origin': request.headers.origin ?? '*' };
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { ...cors, 'access-control-allow-headers': 'x-trace-id, traceparent' }).end();
      return;
    }
    mark('preprocess');
    response.writeHead(200, { 'content-type': 'text/event-stream', ...cors });
    for (let index = 0; index < EVENTS && !response.destroyed; index++) {
      response.write(`data: {"choices":[{"delta":{"content":"t${index} "}}]}\n\n`);
      await wait(GAP_MS);
    }
    response.end('data: [DONE]\n\n');
  };
  const server = http.createServer((request, response) => {
    const handle = () => void answer(request, response).catch(() => response.destroy());
    if (request.url === '/chat') timed(request, response, handle);
    else handle();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await timed.close();
    },
  };
}
