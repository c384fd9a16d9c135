import http from 'node:http';
import https from 'node:https';

/** What a collector said to one export request. */
export type CollectorAnswer =
  /** Taken, but for `rejectedSpans`, which it will not take another time either. */
  | { readonly kind: 'taken'; readonly rejectedSpans: number; readonly why: string | null }
  /** Try again, not before `afterMs` if it named a time. */
  | { readonly kind: 'later'; readonly afterMs: number | null; readonly why: string }
  /** It never will. */
  | { readonly kind: 'refused'; readonly why: string };

/** Sends one export request. Never rejects. */
export type PostTraces = (body: Buffer, signal: AbortSignal) => Promise<CollectorAnswer>;

/** As the protocol's exporters have it; a collector that is silent for longer is treated like one that is away. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The statuses that OTLP/HTTP names as worth another try. */
const RETRYABLE = new Set([429, 502, 503, 504]);
/** An answer is a few dozen bytes; a page of text from the wrong server need not be read to its end. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_WHY = 200;

/** The address of traces under a collector's base address. @see https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
export function tracesUrl(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/traces`;
}

export interface TracesPoster {
  readonly post: PostTraces;
  /** Closes the connections that are kept. */
  close(): void;
}

/**
 * A sender of OTLP/HTTP in JSON on connections that are kept.
 *
 * @param headers sent with each request, with names in lower case
 */
export function createTracesPoster(endpoint: string, headers: Readonly<Record<string, string>> = {}): TracesPoster {
  const url = new URL(tracesUrl(endpoint));
  const { Agent, request } = url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const post: PostTraces = (body, signal) =>
    new Promise((resolve) => {
      const later = (error: Error): void => resolve({ kind: 'later', afterMs: null, why: reasonOf(error) });
      const sent = request(
        url,
        {
          agent,
          method: 'POST',
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
          headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            if (text.length < MAX_ANSWER_BYTES) text += chunk;
          });
          response.on('error', later);
          response.on('end', () => resolve(answerOf(response.statusCode!, response.headers['retry-after'], text)));
        },
      );
      sent.on('error', later);
      sent.end(body);
    });
  return { post, close: () => agent.destroy() };
}

function answerOf(status: number, retryAfter: string | undefined, text: string): CollectorAnswer {
  if (status >= 200 && status < 300) return takenOf(text);
  const why = `it answered ${status}`;
  if (RETRYABLE.has(status)) return { kind: 'later', afterMs: waitOf(retryAfter), why };
  return { kind: 'refused', why };
}

/** @see https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
function takenOf(text: string): CollectorAnswer {
  let partial: { rejectedSpans?: unknown; errorMessage?: unknown } | undefined;
  try {
    partial = (JSON.parse(text) as { partialSuccess?: typeof partial } | null)?.partialSuccess;
  } catch {
    // Some answer with nothing, or with what is no JSON, and mean that all is well.
  }
  const rejectedSpans = Math.max(0, Number(partial?.rejectedSpans) || 0);
  const why = typeof partial?.errorMessage === 'string' ? partial.errorMessage.slice(0, MAX_WHY) : null;
  return { kind: 'taken', rejectedSpans, why };
}

/** `Retry-After` in milliseconds: seconds, or a date. */
function waitOf(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null;
  const ms = /^\d+$/.test(retryAfter.trim()) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return (error.name === 'AbortError' || error.name === 'TimeoutError' ? 'no answer in time' : code) ?? error.message;
}
