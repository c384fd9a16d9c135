import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** What `writeHead` takes: an object, a flat list of names and values, or a list of pairs. */
export type WriteHeadHeaders = OutgoingHttpHeaders | readonly unknown[];

/** The arguments of `writeHead(status[, message][, headers])`. */
export type WriteHeadArguments = readonly unknown[];

export function headersOf(args: WriteHeadArguments): WriteHeadHeaders | undefined {
  const [, second, third] = args;
  const headers = typeof second === 'string' ? third : (third ?? second);
  return typeof headers === 'object' && headers !== null ? (headers as WriteHeadHeaders) : undefined;
}

const isPairs = (headers: readonly unknown[]): headers is [string, unknown][] => Array.isArray(headers[0]);

/** Values of headers; empty where there is none. */
export interface StartHeaders {
  contentType: string;
  contentEncoding: string;
  contentLength: string;
  traceId: string;
}

/** By name in lower case. Most other headers are told apart by their lengths alone. */
const READ: ReadonlyMap<string, keyof StartHeaders> = new Map([
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['x-trace-id', 'traceId'],
]);
const READ_LENGTHS: ReadonlySet<number> = new Set([...READ.keys()].map(({ length }) => length));

/**
 * Reads the headers that are of interest of a response that starts with these arguments, the first value of each.
 *
 * @param found whose fields are set, from empty
 */
export function readStart(res: ServerResponse, args: WriteHeadArguments, found: StartHeaders): void {
  const headers = headersOf(args);
  if (headers) {
    if (!Array.isArray(headers)) {
      for (const name of Object.keys(headers)) take(found, name, (headers as OutgoingHttpHeaders)[name]);
    } else if (isPairs(headers)) for (const [name, value] of headers) take(found, name, value);
    else for (let at = 0; at < headers.length; at += 2) take(found, headers[at], headers[at + 1]);
  }
  for (const [name, field] of READ) if (found[field] === '') found[field] = String(res.getHeader(name) ?? '');
}

function take(found: StartHeaders, name: unknown, value: unknown): void {
  if (typeof name !== 'string' || !READ_LENGTHS.has(name.length) || value == null) return;
  const field = READ.get(name.toLowerCase());
  if (field && found[field] === '') found[field] = String(value);
}

/** Headers to add, by name. */
export interface AddedHeaders {
  'X-Timing-Trace': string;
  'X-Trace-ID'?: string;
}

/**
 * The same arguments with our headers, in the form that the app chose: the forms differ in how Node merges them with headers set
 * before. Headers of these names are replaced.
 *
 * @returns the arguments themselves where Node will refuse them: let it
 */
export function withHeaders(args: WriteHeadArguments, added: AddedHeaders): WriteHeadArguments {
  const [status, second, third] = args;
  const headers = headersOf(args);
  const hasMessage = typeof second === 'string';
  if (!headers && (third ?? (hasMessage ? undefined : second)) != null) return args;
  const together = joined(headers, added);
  if (!together) return args;
  return hasMessage ? [status, second, together] : [status, together];
}

/** Undefined where Node will refuse the headers. */
function joined(headers: WriteHeadHeaders | undefined, added: AddedHeaders): WriteHeadHeaders | undefined {
  if (!Array.isArray(headers)) {
    // Not spread, which V8 does ten times as slowly for objects of ever other shapes.
    const merged: OutgoingHttpHeaders = Object.assign({}, headers as OutgoingHttpHeaders | undefined, added);
    for (const name in headers) if (isAdded(name, added) && !Object.hasOwn(added, name)) delete merged[name];
    return merged;
  }
  if (isPairs(headers)) return [...headers.filter(([name]) => !isAdded(name, added)), ...Object.entries(added)];
  if (headers.length % 2 !== 0) return undefined;
  const list: unknown[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!isAdded(headers[at], added)) list.push(headers[at], headers[at + 1]);
  }
  return [...list, ...Object.entries(added).flat()];
}

function isAdded(name: unknown, added: AddedHeaders): boolean {
  if (typeof name !== 'string') return false;
  if (name.length === 14) return name.toLowerCase() === 'x-timing-trace';
  return name.length === 10 && added['X-Trace-ID'] !== undefined && name.toLowerCase() === 'x-trace-id';
}

/**
 * Replaces a header's value after `writeHead` and before the start leaves. Node keeps the written start in `_header` until then;
 * where a runtime does not, the earlier value stands, which is true as well, only older.
 */
export function amendHeader(res: ServerResponse, name: string, before: string, after: string): void {
  const start = res as unknown as { _header?: unknown; _headerSent?: unknown };
  if (typeof start._header !== 'string' || start._headerSent !== false) return;
  start._header = start._header.replace(`\r\n${name}: ${before}\r\n`, `\r\n${name}: ${after}\r\n`);
}
