export const TRACE_ID_HEADER = 'X-Trace-ID';
const TRACEPARENT = 'traceparent';
const HEX_32 = /^[\da-f]{32}$/;

/** As many random lower-case hex digits; an even number. */
export function randomHex(digits: number): string {
  let hex = '';
  for (const byte of crypto.getRandomValues(new Uint8Array(digits / 2))) hex += (byte + 256).toString(16).slice(1);
  return hex;
}

/**
 * Whether a trace is measured at a rate of 0 to 1. The last 13 digits (52 bits, which a number holds exactly) decide, so that
 * everybody who knows the id decides alike. An id of a foreign form, which has no such number, is always measured.
 */
export function isSampled(traceId: string, rate = 1): boolean {
  return !(Number(`0x${traceId.slice(-13)}`) >= rate * 2 ** 52);
}

/** The id that the request's headers already bear, from whoever traces it too. */
export function givenTraceId(headers: Headers): string | undefined {
  return (
    headers.get(TRACE_ID_HEADER) ??
    headers
      .get(TRACEPARENT)
      ?.split('-')
      .find((field) => HEX_32.test(field))
  );
}

/** Adds the two trace headers, each unless it is there. */
export function addTraceHeaders(headers: Headers, traceId: string, sampled: boolean): void {
  if (!headers.has(TRACE_ID_HEADER)) headers.set(TRACE_ID_HEADER, traceId);
  if (HEX_32.test(traceId) && !headers.has(TRACEPARENT)) {
    headers.set(TRACEPARENT, `00-${traceId}-${randomHex(16)}-0${+sampled}`);
  }
}
