import { accept, type Result, reject } from '../../contract/rejections.ts';

export const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/x-ndjson']);
/** A beacon comes as plain text, the only type that `navigator.sendBeacon` sends without asking first. */
export const BEACON_TYPES: ReadonlySet<string> = new Set([...JSON_TYPES, 'text/plain']);

const UTF_8 = /^"?utf-?8"?$/i;

/** Whether a body of this `Content-Type` is read here. A charset other than UTF-8 is not. */
export function checkContentType(header: string | undefined, allowed: ReadonlySet<string>): Result<null> {
  const [type = '', ...parameters] = (header ?? '').split(';');
  if (!allowed.has(type.trim().toLowerCase())) {
    return reject('unsupported_media_type', `Content-Type must be one of ${[...allowed].join(', ')}.`);
  }
  for (const parameter of parameters) {
    const [name = '', value] = parameter.split('=');
    if (name.trim().toLowerCase() === 'charset' && value !== undefined && !UTF_8.test(value.trim())) return NOT_UTF_8;
  }
  return accept(null);
}

const NOT_UTF_8 = reject('unsupported_media_type', 'The charset must be utf-8.');
