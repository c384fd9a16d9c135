import type http from 'node:http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { api, resources, tracing } from '@opentelemetry/sdk-node';
import { INGEST_SERVICE } from '../contract/spans.ts';
import { tracesUrl } from './export/postTraces.ts';

/** A post this slow is worth a look; a commit takes a few milliseconds. */
const SLOW_MS = 250;
/** Of the others one in so many, so that there is something to compare with. */
const USUAL_EVERY = 100;
/** When all requests are slow or fail, so many a second tell enough. */
const MAX_PER_SECOND = 20;
const EXPORT_TIMEOUT_MS = 2_000;

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST']);
/** Routes by their address; whatever else is asked for has no name, since it could hold anything. */
const ROUTES = new Set([
  '/v1/beacons',
  '/v1/server-timings',
  '/v1/gateway-logs',
  '/v1/logs',
  '/metrics',
  '/healthz',
  '/readyz',
]);
const REQUESTS_ROUTE = '/v1/requests/:trace_id';

export interface Telemetry {
  /** Traces the requests of a server from now on. */
  watch(server: http.Server): void;
  /** Exports what is left, for at most so long. */
  close(deadlineMs: number): Promise<void>;
}

/**
 * Traces of the service's own requests. A span costs more than all other work on an event, so it is made after the answer, and only for
 * what was slow or failed and a few others; nothing is registered globally, and no context follows a request through the code. Each
 * is a trace of its own: those of the users' requests have their own exporter (export/traceExporter.ts).
 *
 * @param endpoint base address of an OTLP/HTTP collector
 * @param headers sent with each export
 */
export function startTelemetry(endpoint: string, headers: Readonly<Record<string, string>>): Telemetry {
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(endpoint),
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new tracing.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': INGEST_SERVICE }),
    sampler: new tracing.AlwaysOnSampler(),
    spanProcessors: [new tracing.BatchSpanProcessor(exporter, { exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  });
  const tracer = provider.getTracer(INGEST_SERVICE);
  const chooser = new Chooser();

  const onRequest: http.RequestListener = (request, response) => {
    const began = performance.now();
    response.once('close', () => {
      const durationMs = performance.now() - began;
      const failed = !response.writableFinished || response.statusCode >= 500;
      if (!chooser.choose(failed || durationMs >= SLOW_MS)) return;
      const endMs = Date.now();
      record(tracer, request, response, endMs - durationMs, endMs);
    });
  };
  return {
    watch: (server) => void server.prependListener('request', onRequest),
    async close(deadlineMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

/** Which requests get a span. */
class Chooser {
  #usual = 0;
  #second = 0;
  #inSecond = 0;

  choose(notable: boolean): boolean {
    if (!notable) {
      this.#usual = (this.#usual + 1) % USUAL_EVERY;
      if (this.#usual !== 1) return false;
    }
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
    return this.#inSecond <= MAX_PER_SECOND;
  }
}

/** Neither address, query nor header of the request: only what is in a closed list, and numbers. */
function record(
  tracer: api.Tracer,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  startMs: number,
  endMs: number,
): void {
  const method = METHODS.has(request.method ?? '') ? request.method! : '_OTHER';
  const path = (request.url ?? '/').split('?', 1)[0]!;
  const route = ROUTES.has(path) ? path : path.startsWith('/v1/requests/') ? REQUESTS_ROUTE : null;
  const cut = !response.writableFinished;
  const span = tracer.startSpan(
    route === null ? method : `${method} ${route}`,
    {
      kind: api.SpanKind.SERVER,
      startTime: startMs,
      root: true,
      attributes: {
        'http.request.method': method,
        ...(route === null ? {} : { 'http.route': route }),
        ...(response.headersSent ? { 'http.response.status_code': response.statusCode } : {}),
        ...(cut ? { 'error.type': 'connection_closed' } : {}),
        ...(!cut && response.statusCode >= 500 ? { 'error.type': String(response.statusCode) } : {}),
      },
    },
    api.ROOT_CONTEXT,
  );
  if (cut || response.statusCode >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
  span.end(endMs);
}
