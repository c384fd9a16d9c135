import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** What `writeHead` takes: an object, a flat list of names and values, or a list of pairs. */
export type WriteHeadHeaders = OutgoingHttpHeaders | readonly unknown[];

/** The arguments of `writeHead(status[, message][, headers])`. */
export type WriteHeadArguments = readonly unknown[];

export function headersOf([, second, third]: WriteHeadArguments): WriteHeadHeaders | undefined {
  const headers = typeof second === 'string' ? third : (third ?? second);
  return typeof headers === 'object' && headers !== null ? (headers as WriteHeadHeaders) : undefined;
}

const isPairs = (headers: readonly unknown[]): headers is [string, unknown][] => Array.isArray(headers[0]);

function entriesOf(headers: WriteHeadHeaders): [string, unknown][] {
  if (!Array.isArray(headers)) return Object.entries(headers);
  if (isPairs(headers)) return headers;
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), headers[at + 1]] as [string, unknown]] : []));
}

/** The value of a header of a response that starts with these arguments; empty where there is none. */
export function headerValue(res: ServerResponse, args: WriteHeadArguments, name: string): string {
  const own = entriesOf(headersOf(args) ?? {}).find(([each]) => String(each).toLowerCase() === name);
  return String(own?.[1] ?? res.getHeader(name) ?? '');
}

/**
 * The same arguments with one header more, in the form that the app chose: the forms differ in how Node merges them with headers
 * set before. A header of this name is replaced.
 */
export function withHeader(args: WriteHeadArguments, name: string, value: string): WriteHeadArguments {
  const [status, second, third] = args;
  const headers = headersOf(args);
  // Something that Node will refuse: let it.
  if (!headers && (third ?? (typeof second === 'string' ? undefined : second)) != null) return args;
  const message = typeof second === 'string' ? [second] : [];
  const others = (entries: [string, unknown][]) =>
    entries.filter(([each]) => String(each).toLowerCase() !== name.toLowerCase());
  if (!Array.isArray(headers)) {
    return [status, ...message, { ...Object.fromEntries(others(Object.entries(headers ?? {}))), [name]: value }];
  }
  if (isPairs(headers)) return [status, ...message, [...others(headers), [name, value]]];
  if (headers.length % 2 !== 0) return args;
  return [status, ...message, [...others(entriesOf(headers)).flat(1), name, value]];
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
