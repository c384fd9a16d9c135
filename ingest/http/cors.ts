import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;
/** The longest that browsers keep a preflight's answer. */
const MAX_AGE_SECONDS = 7_200;

export type OriginCheck =
  /** No browser's request, or a listed origin: these headers go with the answer. */
  { readonly allowed: true; readonly headers: OutgoingHttpHeaders } | { readonly allowed: false };

/**
 * Answers CORS by an allow-list, with the exact origin: beacons carry credentials, for which browsers accept no `*`. Without a list
 * pages served from loopback are allowed. A request without `Origin` is no browser's.
 */
export function createOriginCheck(origins: readonly string[] | null): (request: IncomingMessage) => OriginCheck {
  const listed = new Set(origins);
  return (request) => {
    const origin = request.headers.origin;
    if (origin === undefined) return { allowed: true, headers: {} };
    if (origins === null ? !LOOPBACK.test(origin) : !listed.has(origin)) return { allowed: false };
    return {
      allowed: true,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        // A page's script sees no other header than the plainest, and has to wait as long as this one says.
        'access-control-expose-headers': 'retry-after',
        vary: 'Origin',
      },
    };
  };
}

export const PREFLIGHT_HEADERS: OutgoingHttpHeaders = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type, content-encoding, x-trace-id, traceparent',
  'access-control-max-age': String(MAX_AGE_SECONDS),
};
