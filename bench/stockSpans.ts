import { createRequire } from 'node:module';
import { tracing } from '@opentelemetry/sdk-node';

interface Serializer {
  serializeRequest(spans: readonly tracing.ReadableSpan[]): Uint8Array | undefined;
}

/** What the stock exporter for OTLP/HTTP in JSON turns spans into bytes with. It is a part of that exporter, so it is looked up from there. */
function stockSerializer(): Serializer {
  const exporter = createRequire(import.meta.url).resolve('@opentelemetry/exporter-trace-otlp-http');
  const transformer = createRequire(exporter)('@opentelemetry/otlp-transformer') as { JsonTraceSerializer: Serializer };
  return transformer.JsonTraceSerializer;
}

const ATTRIBUTES = {
  'gen_ai.request.model': 'llama-3-70b',
  'firsttoken.stage': 'queue',
  'firsttoken.placement': 'inferred',
};

/** Spans of the stock SDK, from start to bytes, as a batch processor would hand them on. @returns the function that makes a batch of them */
export function stockSpans(): (spans: number) => number {
  const finished: tracing.ReadableSpan[] = [];
  const processor: tracing.SpanProcessor = {
    onStart: () => {},
    onEnd: (span) => void finished.push(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const tracer = new tracing.BasicTracerProvider({ spanProcessors: [processor] }).getTracer('bench');
  const serializer = stockSerializer();
  return (spans) => {
    for (let at = 0; at < spans; at++) {
      const span = tracer.startSpan('queue', { startTime: 1_785_491_532_000 + at, attributes: ATTRIBUTES });
      span.end(1_785_491_532_000 + at + 5);
    }
    return serializer.serializeRequest(finished.splice(0))!.length;
  };
}
