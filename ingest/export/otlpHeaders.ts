const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What a header may hold: visible ASCII, and blanks between. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Ours to set: they say what the body is and how it comes. */
const NOT_THEIRS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/**
 * Reads `OTEL_EXPORTER_OTLP_HEADERS`: `name=value` pairs with commas between, values percent-encoded where they hold a comma or a percent
 * sign. A name that comes twice has its last value.
 *
 * @returns names in lower case, or null when the text is not of that form
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
 */
export function readOtlpHeaders(text: string): Readonly<Record<string, string>> | null {
  const headers = new Map<string, string>();
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim().toLowerCase();
    const value = decoded(pair.slice(at + 1).trim());
    if (!NAME.test(name) || NOT_THEIRS.has(name) || value === null || !VALUE.test(value)) return null;
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
