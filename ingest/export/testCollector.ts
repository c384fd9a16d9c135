import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a collector decodes it. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly atNs: bigint }[];
  readonly status: { readonly code: number; readonly message: string } | null;
}

/** What the collector does with a request: answers with a status, or falls silent. */
export type Behaviour =
  | { readonly status: number; readonly headers?: http.OutgoingHttpHeaders; readonly body?: object }
  | 'silent';

/** For tests: a real HTTP server that decodes OTLP/JSON strictly. What it answers with 200 it has received. */
export interface TestCollector {
  /** Its base address. */
  readonly endpoint: string;
  /** In the order of arrival; a span that comes twice stands there twice. */
  readonly spans: readonly ReceivedSpan[];
  /** When each request came, on performance's clock. */
  readonly requestsAtMs: readonly number[];
  /** What came with each. */
  readonly headers: readonly http.IncomingHttpHeaders[];
  /** Faults of what came: not the protocol, an address or a type that is not right. */
  readonly faults: readonly string[];
  behave(next: (request: number) => Behaviour): void;
  /** Breaks all connections. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTestCollector(): Promise<TestCollector> {
  const spans: ReceivedSpan[] = [];
  const requestsAtMs: number[] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const faults: string[] = [];
  /** Taken, and not decoded yet: while a test measures time, the collector should take little of it. */
  const bodies: Buffer[] = [];
  const decodeBodies = (): void => {
    for (const body of bodies.splice(0)) {
      try {
        spans.push(...decode(JSON.parse(body.toString('utf8'))));
      } catch (error) {
        faults.push(String(error));
      }
    }
  };
  let behaviour: (request: number) => Behaviour = () => ({ status: 200, body: {} });
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // On a shared machine others knock on any port.
      if (request.method !== 'POST') {
        response.writeHead(404).end();
        return;
      }
      const how = behaviour(requestsAtMs.push(performance.now()));
      headers.push(request.headers);
      if (how === 'silent') return;
      if (request.url !== '/v1/traces') faults.push(`POST ${request.url}`);
      if (request.headers['content-type'] !== 'application/json') faults.push(`${request.headers['content-type']}`);
      if (how.status === 200) bodies.push(Buffer.concat(chunks));
      response.writeHead(how.status, { 'content-type': 'application/json', ...how.headers });
      response.end(JSON.stringify(how.body ?? {}));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get spans() {
      decodeBodies();
      return spans;
    },
    requestsAtMs,
    headers,
    get faults() {
      decodeBodies();
      return faults;
    },
    behave(next) {
      behaviour = next;
    },
    cut: () => server.closeAllConnections(),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire has no type yet
type Wire = any;

/** From the protocol's definitions and not from our writer. @see https://github.com/open-telemetry/opentelemetry-proto */
function decode(request: Wire): ReceivedSpan[] {
  return list(request.resourceSpans).flatMap((resource: Wire) => {
    const service = String(attributes(resource.resource.attributes)['service.name']);
    return list(resource.scopeSpans).flatMap((scope: Wire) =>
      list(scope.spans).map((span) => decodeSpan(service, span)),
    );
  });
}

function decodeSpan(service: string, span: Wire): ReceivedSpan {
  return {
    service,
    traceId: matching(/^(?!0{32})[0-9a-f]{32}$/, span.traceId),
    spanId: matching(/^(?!0{16})[0-9a-f]{16}$/, span.spanId),
    parentSpanId: span.parentSpanId === undefined ? null : matching(/^[0-9a-f]{16}$/, span.parentSpanId),
    name: matching(/^.+$/, span.name),
    kind: span.kind,
    startNs: time(span.startTimeUnixNano),
    endNs: time(span.endTimeUnixNano),
    attributes: attributes(span.attributes),
    events: list(span.events).map((event) => ({ name: String(event.name), atNs: time(event.timeUnixNano) })),
    status: span.status?.code ? { code: span.status.code, message: span.status.message ?? '' } : null,
  };
}

function attributes(pairs: Wire): Record<string, unknown> {
  const names = list(pairs).map((pair) => pair.key);
  if (new Set(names).size < names.length) throw new Error(`an attribute comes twice: ${names}`);
  return Object.fromEntries(list(pairs).map((pair) => [matching(/^.+$/, pair.key), value(pair.value)]));
}

function value(any: Wire): unknown {
  const [[kind, given] = ['', undefined], ...more] = Object.entries(any) as [string, Wire][];
  if (more.length > 0) throw new Error(`two values: ${JSON.stringify(any)}`);
  if (kind === 'stringValue' && typeof given === 'string') return given;
  if (kind === 'boolValue' && typeof given === 'boolean') return given;
  if (kind === 'doubleValue' && typeof given === 'number') return given;
  if (kind === 'intValue') return Number(matching(/^-?\d+$/, String(given)));
  if (kind === 'arrayValue') return list(given.values).map(value);
  throw new Error(`no value: ${JSON.stringify(any)}`);
}

/** 64-bit numbers are decimal strings in JSON: as numbers they would be rounded. */
function time(given: Wire): bigint {
  const ns = BigInt(matching(/^\d{1,20}$/, given));
  if (ns > 18_446_744_073_709_551_615n) throw new Error(`beyond 64 bits: ${given}`);
  return ns;
}

function matching(pattern: RegExp, given: Wire): string {
  if (typeof given !== 'string' || !pattern.test(given)) throw new Error(`${pattern} does not match ${given}`);
  return given;
}

function list(given: Wire): Wire[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw new Error(`no list: ${JSON.stringify(given)}`);
  return given;
}
