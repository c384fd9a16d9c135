import http from 'node:http';
import https from 'node:https';

/** What became of one post. */
export type PostOutcome =
  | { readonly kind: 'taken'; readonly rejected: number }
  /** The ingest will never take this. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfter: string | undefined };

export interface Poster {
  /** Posts one NDJSON body. Never rejects. */
  post(body: string, signal: AbortSignal): Promise<PostOutcome>;
  /** Closes idle connections. */
  close(): void;
}

/** Of an answer longer than this only the status counts. */
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * @param url of `/v1/server-timings`, http or https
 * @param timeoutMs for the whole exchange, from connecting to the last byte of the answer
 * @throws TypeError when the token cannot stand in a header
 */
export function createPoster(url: URL, token: string | undefined, timeoutMs: number): Poster {
  const { Agent, request } = url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers: http.OutgoingHttpHeaders = { 'Content-Type': 'application/x-ndjson' };
  if (token) {
    headers['Authorization'] = `Bearer ${token}`;
    // A line feed at the end of a token read from a file is found now, not at the first post.
    http.validateHeaderValue('Authorization', headers['Authorization']);
  }

  return {
    post: (body, signal) =>
      new Promise((resolve) => {
        const failed = (reason: string): void => {
          clearTimeout(timer);
          resolve({ kind: 'retry', reason, retryAfter: undefined });
        };
        const options = {
          method: 'POST',
          agent,
          headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
          signal,
        };
        const req = request(url, options, (res) => {
          let answer = '';
          res.setEncoding('utf8');
          res.on('data', (text: string) => {
            if (answer.length <= MAX_ANSWER_BYTES) answer += text;
          });
          res.on('error', (error) => failed(error.message));
          res.on('end', () => {
            clearTimeout(timer);
            resolve(outcomeOf(res, answer));
          });
        });
        const timer = setTimeout(() => req.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs).unref();
        req.on('error', (error) => failed(error.message));
        // Telemetry must not keep a process alive that has nothing else to do.
        req.on('socket', (socket) => socket.unref());
        req.end(body);
      }),
    close: () => agent.destroy(),
  };
}

function outcomeOf(res: http.IncomingMessage, answer: string): PostOutcome {
  const status = res.statusCode ?? 0;
  if (status >= 200 && status < 300) return { kind: 'taken', rejected: rejectedIn(answer) };
  // 408 and 5xx are what proxies say while the ingest is away.
  if (status === 429 || status === 408 || status >= 500) {
    return { kind: 'retry', reason: `status ${status}`, retryAfter: res.headers['retry-after'] };
  }
  return { kind: 'refused', status };
}

function rejectedIn(answer: string): number {
  try {
    const { rejected } = JSON.parse(answer) as { rejected?: unknown };
    return Array.isArray(rejected) ? rejected.length : 0;
  } catch {
    return 0;
  }
}
