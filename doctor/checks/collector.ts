import { ask } from '../ask.ts';
import { type Finding, fault, good } from '../finding.ts';
import type { Target } from '../target.ts';

/** Sends the collector an export without a span, as OTLP/HTTP. */
export async function checkCollector({ collectorUrl }: Target): Promise<Finding> {
  const url = `${collectorUrl!.replace(/\/$/, '')}/v1/traces`;
  const answer = await ask(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"resourceSpans":[]}',
  });
  if (answer.kind === 'unreachable') {
    return fault(
      `The collector is not reached at ${url}: ${answer.why}.`,
      'Start it, or mend OTEL_EXPORTER_OTLP_ENDPOINT: the base address of its OTLP/HTTP port (4318), not of gRPC (4317).',
    );
  }
  if (answer.status === 401 || answer.status === 403) {
    return fault(`The collector refuses (${answer.status}).`, 'It wants credentials: OTEL_EXPORTER_OTLP_HEADERS.');
  }
  if (answer.status >= 300) {
    return fault(
      `POST ${url} answers ${answer.status}: that is no OTLP/HTTP receiver.`,
      'Mend OTEL_EXPORTER_OTLP_ENDPOINT.',
    );
  }
  return good(`The collector takes traces at ${url}.`);
}
