import type { OutgoingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { HalfName, Requests } from './requests.ts';

/** One telling of one half of one request. */
export interface Report {
  readonly number: number;
  readonly half: HalfName;
  /** It was acknowledged before. */
  readonly repeat: boolean;
}

export interface Post {
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

const GZIP_SHARE = 0.1;

/**
 * Writes reports of one kind as a post, in one of the forms that the address takes.
 *
 * @param draw from [0, 1): chooses the form
 */
export function postOf(requests: Requests, batch: readonly Report[], draw: number): Post {
  const events = batch.map(({ number, half }) => requests.event(number, half));
  const form = Math.floor(draw * 1_000) % 2 === 0;
  switch (batch[0]!.half) {
    case 'server':
      return packed('/v1/server-timings', form ? linesOf(events) : jsonOf(events), form ? NDJSON : JSON_TYPE, draw);
    case 'gateway':
      return form
        ? packed('/v1/gateway-logs', linesOf(events), NDJSON, draw)
        : packed('/v1/logs', JSON.stringify(otlpOf(events)), JSON_TYPE, draw);
    default:
      return packed('/v1/beacons', form ? linesOf(events) : jsonOf(events), 'text/plain;charset=UTF-8', draw);
  }
}

const NDJSON = 'application/x-ndjson';
const JSON_TYPE = 'application/json';

function packed(path: string, text: string, type: string, draw: number): Post {
  if (draw >= GZIP_SHARE) return { path, headers: { 'content-type': type }, body: text };
  return { path, headers: { 'content-type': type, 'content-encoding': 'gzip' }, body: gzipSync(text, { level: 1 }) };
}

function linesOf(events: readonly object[]): string {
  return events.map((event) => JSON.stringify(event)).join('\n');
}

function jsonOf(events: readonly object[]): string {
  return JSON.stringify(events.length === 1 ? events[0] : events);
}

function otlpOf(events: readonly object[]): object {
  const logRecords = events.map((event) => ({ body: { stringValue: JSON.stringify(event) } }));
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
}
