import type { RequestAnswer } from '../../contract/request.ts';
import type { Stack } from './stack.ts';

/** A line in VictoriaLogs; fields as the collector sent them. */
export type StoredLine = Readonly<Record<string, string>>;

export interface JaegerSpan {
  readonly traceID: string;
  readonly spanID: string;
  readonly operationName: string;
  readonly references: readonly { readonly refType: string; readonly traceID: string; readonly spanID: string }[];
  /** Microseconds since 1970. */
  readonly startTime: number;
  /** Microseconds. */
  readonly duration: number;
}

/** Lines that a LogsQL query finds. */
export async function linesOf({ logsUrl }: Stack, logsQl: string): Promise<StoredLine[]> {
  const answer = await fetch(`${logsUrl}/select/logsql/query`, {
    method: 'POST',
    body: new URLSearchParams({ query: logsQl }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`VictoriaLogs answered ${answer.status}: ${text}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredLine);
}

/** Which parts have lines under a trace id. */
export async function servicesWithLines(stack: Stack, traceId: string): Promise<string[]> {
  const lines = await linesOf(stack, `trace_id:="${traceId}" | fields service.name`);
  return [...new Set(lines.map((line) => line['service.name'] ?? ''))].sort();
}

/** Empty where Jaeger has no such trace. */
export async function spansOf({ jaegerUrl }: Stack, traceId: string): Promise<readonly JaegerSpan[]> {
  const answer = await fetch(`${jaegerUrl}/api/traces/${traceId}`);
  if (answer.status === 404) return [];
  const { data } = (await answer.json()) as { data: { spans: JaegerSpan[] }[] | null };
  return data?.[0]?.spans ?? [];
}

/** A request's row as the ingest tells it; null where it has none. */
export async function rowOf({ ingestUrl, token }: Stack, traceId: string): Promise<RequestAnswer | null> {
  const answer = await fetch(`${ingestUrl}/v1/requests/${traceId}`, { headers: { authorization: `Bearer ${token}` } });
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`the ingest answered ${answer.status}`);
  return (await answer.json()) as RequestAnswer;
}

/** Trace ids of the exemplars that the ingest shows on /metrics at the moment. */
export async function exemplarsOf({ adminUrl }: Stack): Promise<string[]> {
  const answer = await fetch(`${adminUrl}/metrics`, {
    headers: { accept: 'application/openmetrics-text; version=1.0.0' },
  });
  return [...(await answer.text()).matchAll(/# \{[^}]*trace_id="([0-9a-f]{32})"/g)].map(([, id]) => id!);
}

/** Trace ids of the exemplars that Prometheus has kept. */
export async function storedExemplars({ prometheusUrl }: Stack): Promise<string[]> {
  const now = Date.now() / 1_000;
  const asked = new URLSearchParams({ query: '{__name__=~".+_bucket"}', start: `${now - 3_600}`, end: `${now}` });
  const answer = await fetch(`${prometheusUrl}/api/v1/query_exemplars?${asked}`);
  const { data } = (await answer.json()) as { data: { exemplars: { labels: { trace_id?: string } }[] }[] };
  return data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id ?? ''));
}
