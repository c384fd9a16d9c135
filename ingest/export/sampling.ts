const RANDOM_DIGITS = 14;
const ALL = 2 ** (4 * RANDOM_DIGITS);

/**
 * Whether a request's trace is exported. The trace id alone decides, so that all replicas, a second export and exemplars agree; it
 * is read as OpenTelemetry's consistent sampling reads it (the last 56 bits against a threshold), so that a collector with
 * the same ratio keeps the same traces.
 *
 * @param rate share of traces, 0 to 1
 * @see https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/
 */
export function isSampled(traceId: string, rate: number): boolean {
  return rate >= 1 || Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) >= (1 - rate) * ALL;
}
