import type { ExpositionFormat } from './exposition.ts';

/**
 * The format that a scraper's `Accept` header asks for: OpenMetrics where it is named and liked no less than plain text, else
 * the text format, which everything reads. A wildcard asks for nothing in particular.
 */
export function formatFor(accept: string | undefined): ExpositionFormat {
  let openMetrics = 0;
  let text = 0;
  for (const range of accept?.toLowerCase().split(',') ?? []) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    const quality = qualityOf(parameters);
    if (type === 'text/plain') text = Math.max(text, quality);
    if (type === 'application/openmetrics-text' && isVersion1(parameters)) openMetrics = Math.max(openMetrics, quality);
  }
  return openMetrics > 0 && openMetrics >= text ? 'openmetrics' : 'text';
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const quality = Number(given.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 0;
}

/** Prometheus names the draft 0.0.1 as well, with a lower quality. */
function isVersion1(parameters: readonly string[]): boolean {
  const version = parameters.find((parameter) => parameter.startsWith('version='));
  return version === undefined || version === 'version=1.0.0';
}
