import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openSqlSource } from '../dashboards/runner/liveSources.ts';
import { freePort } from '../native/freePort.ts';
import { type FiringAlert, readAlerts } from './alerts.ts';
import { answerPanel, answerVariables } from './answer.ts';
import { readDashboards, shownDashboard } from './dashboards.ts';
import { buildPage, type ServedFile } from './page.ts';
import { QuestionError, readQuestion } from './question.ts';

export interface PreviewOptions {
  readonly databaseUrl: string;
  /** Null: panels that need it say how to get one. */
  readonly prometheusUrl: string | null;
  /** Holds the parts' logs, as `<part>.log`. */
  readonly logFolder: string;
  /** Of loopback; taken or undefined: another. */
  readonly port?: number;
}

export interface Preview {
  readonly url: string;
  stop(): Promise<void>;
}

const USUAL_PORT = 3300;
const MAX_QUESTION_BYTES = 65_536;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * Serves the generated dashboards on loopback, for whoever has no Grafana. There is no token: whoever reaches loopback may look, as with
 * the database's figures on the admin port. Other sites' pages cannot ask: the host must be loopback's, and a question is JSON.
 */
export async function startPreview(options: PreviewOptions): Promise<Preview> {
  const dashboards = readDashboards();
  const files = await buildPage();
  const sql = openSqlSource(options.databaseUrl);
  const sources = { sql, prometheusUrl: options.prometheusUrl, logFolder: options.logFolder };
  const shown = [...dashboards.values()].map(shownDashboard);

  const questions: Readonly<Record<string, (body: unknown) => Promise<unknown>>> = {
    '/ask/dashboards': async () => shown,
    '/ask/alerts': () => readAlerts(options.prometheusUrl).catch((): FiringAlert[] => []),
    '/ask/variables': (body) => answerVariables(readQuestion(body, dashboards), sources),
    '/ask/panel': (body) => answerPanel(readQuestion(body, dashboards), sources),
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (!LOOPBACK.has((request.headers.host ?? '').replace(/:\d+$/, '')))
      return answer(response, 403, {
        error: 'This is served to this machine only: open it by 127.0.0.1 or localhost.',
      });
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'GET' || request.method === 'HEAD') return sendFile(response, pathname, files);
    const ask = Object.hasOwn(questions, pathname) ? questions[pathname] : undefined;
    if (request.method !== 'POST' || ask === undefined)
      return answer(response, 404, { error: 'there is nothing here' });
    if (request.headers['content-type'] !== 'application/json')
      return answer(response, 415, { error: 'a question is application/json' });
    try {
      answer(response, 200, await ask(await readJson(request)));
    } catch (error) {
      const message = error instanceof Error ? error.message : 'it failed';
      answer(response, error instanceof QuestionError ? 400 : 502, { error: message });
    }
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(await freePort(options.port ?? USUAL_PORT), '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sql.close();
    },
  };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

/** Every dashboard has an address of its own, at which the same page stands. */
function sendFile(response: ServerResponse, pathname: string, files: ReadonlyMap<string, ServedFile>): void {
  const named = files.get(pathname);
  const file = named ?? (/^\/d\/[\w-]{1,64}$/.test(pathname) ? files.get('/') : undefined);
  if (file === undefined) return answer(response, 404, { error: 'there is nothing here' });
  const forever = named !== undefined && pathname !== '/';
  response.writeHead(200, {
    'content-type': file.type,
    'cache-control': forever ? 'max-age=31536000, immutable' : 'no-store',
  });
  response.end(file.body);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_QUESTION_BYTES) throw new QuestionError('the question is too long');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null');
  } catch {
    throw new QuestionError('no JSON');
  }
}
