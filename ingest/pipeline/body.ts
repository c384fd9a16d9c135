import { isUtf8 } from 'node:buffer';
import { MAX_EVENTS } from '../../contract/limits.ts';
import { accept, type Rejection, type Result, reject } from '../../contract/rejections.ts';

/** One value of a body: parsed, or why it could not be. */
export type ParsedEvent = { readonly value: unknown } | { readonly rejection: Rejection };

const NEWLINE = 0x0a;

/**
 * Splits a body into its events: one JSON value (an array holds many), else one value per line (NDJSON). A bad line is refused
 * alone, at its index; blank lines are skipped.
 *
 * @returns the events in order, or `malformed_json` for a body that is no JSON at all, or `too_many_events`
 */
export function parseBody(body: Buffer): Result<ParsedEvent[]> {
  if (!isUtf8(body)) return parseLines(linesOfBytes(body));
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  const firstBreak = text.indexOf('\n');
  // Trying the first line tells NDJSON from one pretty-printed value, and costs a batch nothing.
  const hasMore = firstBreak >= 0 && !BLANK.test(text.slice(firstBreak));
  const lines = hasMore && parseJson(text.slice(0, firstBreak)) !== undefined;
  if (!lines) {
    const whole = parseJson(text);
    if (whole !== undefined) return Array.isArray(whole.value) ? eventsOf(whole.value) : accept([whole]);
    if (firstBreak < 0) return MALFORMED;
  }
  return parseLines(linesOf(text));
}

function eventsOf(values: readonly unknown[]): Result<ParsedEvent[]> {
  if (values.length > MAX_EVENTS) return TOO_MANY;
  return accept(values.map((value) => ({ value })));
}

/** A line that is not UTF-8 comes as null. */
function parseLines(lines: Iterable<string | null>): Result<ParsedEvent[]> {
  const events: ParsedEvent[] = [];
  for (const line of lines) {
    if (line === '' || (line !== null && BLANK.test(line))) continue;
    if (events.length === MAX_EVENTS) return TOO_MANY;
    events.push((line === null ? undefined : parseJson(line)) ?? MALFORMED);
  }
  return events.length === 0 ? MALFORMED : accept(events);
}

const BLANK = /^\s*$/;

/** One after the other: a body can have a million lines, of which no more are looked at than there may be events. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    yield text.slice(start, end);
    start = end + 1;
  }
}

function* linesOfBytes(body: Buffer): Generator<string | null> {
  for (let start = 0; start < body.length; ) {
    const found = body.indexOf(NEWLINE, start);
    const end = found < 0 ? body.length : found;
    const line = body.subarray(start, end);
    yield isUtf8(line) ? line.toString('utf8') : null;
    start = end + 1;
  }
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const MALFORMED = reject(
  'malformed_json',
  'The body must be JSON: one object, an array of objects, or one object per line.',
);
const TOO_MANY = reject('too_many_events', `At most ${MAX_EVENTS} events go into one post.`);
