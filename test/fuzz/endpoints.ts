import http from 'node:http';
import net from 'node:net';
import { randomStream } from '../../demo/random.ts';
import { parseStrictly } from '../../ingest/metrics/strictParser.ts';
import { send } from '../postgres/serviceHttp.ts';
import { makeRaw, makeShaped, type ShapedRequest } from './httpInputs.ts';
import { CANARY } from './nasty.ts';
import { type Failure, MAX_STALL_MS } from './parsers.ts';

export interface EndpointOptions {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly token: string;
  readonly inputs: number;
  readonly seed: number;
  readonly onProgress?: (done: number) => void;
}

export interface EndpointResult {
  readonly inputs: number;
  /** Answers by status; 0 where the connection was closed without one. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The longest that the service's event loop stood still, of the calmest of three tries. */
  readonly slowestMs: number;
  readonly failures: readonly Failure[];
}

/** Everything that the service may ever answer to whatever is sent. */
const RIGHT_STATUSES: ReadonlySet<number> = new Set([
  0, 100, 200, 202, 204, 400, 401, 403, 404, 405, 408, 413, 415, 417, 429, 431,
]);
const RAW_SHARE = 0.3;
const CHUNK = 500;
const AT_ONCE = 48;
const STALL_TRIES = 3;
const MAX_FAILURES = 20;
/** A connection that neither answers nor closes although nothing more will come is left hanging. */
const RAW_PATIENCE_MS = 15_000;
/** Longer than an answer takes; half of these inputs are no whole request, and wait for the rest. */
const RAW_QUIET_MS = 60;

/** Sends made-up requests and made-up bytes to a running service. */
export async function fuzzEndpoints(options: EndpointOptions): Promise<EndpointResult> {
  const statuses = new Map<number, number>();
  const failures: Failure[] = [];
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const stalls = watchStalls(options.adminUrl);
  let slowestMs = 0;
  try {
    for (let done = 0; done < options.inputs && failures.length < MAX_FAILURES; done += CHUNK) {
      const size = Math.min(CHUNK, options.inputs - done);
      let stallMs = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < STALL_TRIES && stallMs > MAX_STALL_MS; tries += 1) {
        await stalls.longestMs();
        await sendChunk(options, agent, done, size, statuses, failures);
        stallMs = Math.min(stallMs, await stalls.longestMs());
      }
      slowestMs = Math.max(slowestMs, stallMs);
      if (stallMs > MAX_STALL_MS) {
        const message = `the event loop stood still for ${stallMs.toFixed(0)} ms, each of ${STALL_TRIES} times`;
        failures.push({ target: 'endpoints', message, input: Buffer.from(`inputs ${done} to ${done + size}`) });
      }
      options.onProgress?.(done + size);
    }
  } finally {
    agent.destroy();
  }
  return { inputs: options.inputs, statuses, slowestMs, failures };
}

async function sendChunk(
  { publicUrl, token, seed }: EndpointOptions,
  agent: http.Agent,
  from: number,
  size: number,
  statuses: Map<number, number>,
  failures: Failure[],
): Promise<void> {
  let next = from;
  const work = async () => {
    for (let index = next++; index < from + size; index = next++) {
      const random = randomStream(seed, `endpoints ${index}`);
      const raw = random() < RAW_SHARE ? makeRaw(random) : null;
      const shaped = raw === null ? makeShaped(random, token) : null;
      const answer = raw === null ? await sendShaped(publicUrl, agent, shaped!) : await sendRaw(publicUrl, raw);
      for (const status of answer.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const fault = faultOf(answer);
      if (fault !== null)
        failures.push({ target: 'endpoints', message: fault, input: raw ?? Buffer.from(describe(shaped!)) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

interface RawAnswer {
  readonly statuses: readonly number[];
  /** All that came, head and body. */
  readonly text: string;
  readonly hung: boolean;
}

function faultOf({ statuses, text, hung }: RawAnswer): string | null {
  if (hung) return 'neither answered nor closed';
  const wrong = statuses.find((status) => !RIGHT_STATUSES.has(status));
  if (wrong !== undefined) return `answered ${wrong}`;
  // A stored request may say what was stored; as JSON, which no browser takes for a page.
  if (text.includes(CANARY) && !statuses.includes(200)) return 'the answer repeats the input';
  if (/<script/i.test(text) && !/content-type: application\/json/i.test(text)) return 'the answer could be a page';
  return null;
}

function sendShaped(
  url: string,
  agent: http.Agent,
  { method, path, headers, body }: ShapedRequest,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const none = { statuses: [0], text: '', hung: false };
    let request: http.ClientRequest;
    const { hostname, port } = new URL(url);
    try {
      request = http.request(
        { hostname, port, path, method, agent, headers: { ...headers, 'content-length': body.length } },
        (response) => {
          let text = Object.entries(response.headers)
            .map(([name, value]) => `${name}: ${value}\r\n`)
            .join('');
          response.setEncoding('latin1');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', () => resolve(none));
          response.on('end', () => resolve({ statuses: [response.statusCode!], text, hung: false }));
        },
      );
    } catch {
      // Node's client has refused it.
      resolve(none);
      return;
    }
    request.setTimeout(RAW_PATIENCE_MS, () => {
      resolve({ ...none, hung: true });
      request.destroy();
    });
    request.on('error', () => resolve(none));
    request.end(body);
  });
}

function sendRaw(url: string, bytes: Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = net.connect(Number(port), hostname);
    let text = '';
    let hung = false;
    const impatience = setTimeout(() => {
      hung = true;
      socket.destroy();
    }, RAW_PATIENCE_MS);
    // Our end is closed when nothing more comes: Node's server drops what it has not answered by then.
    let quiet = setTimeout(() => socket.end(), RAW_QUIET_MS);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), RAW_QUIET_MS);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(impatience);
      clearTimeout(quiet);
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
      resolve({ statuses: statuses.length > 0 ? statuses : [0], text, hung });
    });
    socket.write(bytes);
  });
}

function describe({ method, path, headers, body }: ShapedRequest): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${body.toString('base64')}`;
}

/** Watches how long a service's event loop stands still. */
export interface StallWatch {
  /** The longest standstill since the last call, milliseconds, of which the service itself can be the cause. */
  longestMs(): Promise<number>;
}

export function watchStalls(adminUrl: string): StallWatch {
  let cpuMs = Number.NaN;
  return {
    async longestMs() {
      // The exposition has to be one, whatever was sent.
      const metrics = parseStrictly((await send(`${adminUrl}/metrics`, { method: 'GET' })).text, 'text');
      const valueMs = (name: string) => (metrics.get(name)?.samples[0]?.value ?? Number.NaN) * 1_000;
      const [lagMs, before] = [valueMs('nodejs_eventloop_lag_max_seconds'), cpuMs];
      cpuMs = valueMs('process_cpu_seconds_total');
      // On a busy machine a process also stands still because it is not let run: it did not work longer than its processor time.
      return Number.isNaN(before) ? lagMs : Math.min(lagMs, cpuMs - before);
    },
  };
}
