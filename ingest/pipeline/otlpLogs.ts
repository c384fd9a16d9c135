import { MAX_EVENTS } from '../../contract/limits.ts';
import { accept, type Result, reject } from '../../contract/rejections.ts';
import type { ParsedEvent } from './body.ts';

/**
 * Takes the log lines out of an OTLP/HTTP logs request in its JSON encoding: the body of each record is a line as the gateway
 * wrote it.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function linesOfOtlpLogs(value: unknown): Result<ParsedEvent[]> {
  const events: ParsedEvent[] = [];
  for (const resource of list(value, 'resourceLogs')) {
    for (const scope of list(resource, 'scopeLogs')) {
      for (const record of list(scope, 'logRecords')) {
        if (events.length === MAX_EVENTS) return TOO_MANY;
        events.push(lineOf(record));
      }
    }
  }
  return accept(events);
}

function list(value: unknown, field: string): unknown[] {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;
  return Array.isArray(found) ? found : [];
}

function lineOf(record: unknown): ParsedEvent {
  const body = (record as { body?: { stringValue?: unknown } } | null)?.body?.stringValue;
  try {
    return { value: JSON.parse(String(body)) };
  } catch {
    return NO_LINE;
  }
}

const NO_LINE = reject('malformed_json', 'The body of a log record must be one line of the access log, as JSON text.');
const TOO_MANY = reject('too_many_events', `At most ${MAX_EVENTS} records go into one request.`);
