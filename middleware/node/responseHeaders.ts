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

/**
 * The values of headers of a response that starts with these arguments, the first of each name; empty where there is none.
 *
 * @param names in lower case
 */
export function headerValues(res: ServerResponse, args: WriteHeadArguments, names: readonly string[]): string[] {
  const values: unknown[] = new Array(names.length);
  const take = (name: unknown, value: unknown): void => {
    const at = names.indexOf(String(name).toLowerCase());
    if (at >= 0) values[at] ??= value;
  };
  const headers = headersOf(args) ?? {};
  if (!Array.isArray(headers))
    for (const name of Object.keys(headers)) take(name, (headers as OutgoingHttpHeaders)[name]);
  else if (isPairs(headers)) for (const [name, value] of headers) take(name, value);
  else for (let at = 0; at < headers.length; at += 2) take(headers[at], headers[at + 1]);
  return names.map((name, at) => String(values[at] ?? res.getHeader(name) ?? ''));
}

/**
 * The same arguments with more headers, in the form that the app chose: the forms differ in how Node merges them with headers set
 * before. Headers of these names are replaced.
 *
 * @param added values by name
 * @returns the arguments themselves where Node will refuse them: let it
 */
export function withHeaders(args: WriteHeadArguments, added: Readonly<Record<string, string>>): WriteHeadArguments {
  const [status, second, third] = args;
  const headers = headersOf(args);
  if (!headers && (third ?? (typeof second === 'string' ? undefined : second)) != null) return args;
  const message = typeof second === 'string' ? [second] : [];
  const names = Object.keys(added).map((name) => name.toLowerCase());
  const isKept = (name: unknown): boolean => !names.includes(String(name).toLowerCase());

  if (!Array.isArray(headers)) {
    const merged: OutgoingHttpHeaders = {};
    const given = (headers ?? {}) as OutgoingHttpHeaders;
    for (const name of Object.keys(given)) if (isKept(name)) merged[name] = given[name];
    return [status, ...message, Object.assign(merged, added)];
  }
  if (isPairs(headers)) {
    return [status, ...message, [...headers.filter(([name]) => isKept(name)), ...Object.entries(added)]];
  }
  if (headers.length % 2 !== 0) return args;
  const list: unknown[] = [];
  for (let at = 0; at < headers.length; at += 2) if (isKept(headers[at])) list.push(headers[at], headers[at + 1]);
  return [status, ...message, [...list, ...Object.entries(added).flat()]];
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
