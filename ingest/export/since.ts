const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** What may be given. */
const RIGHT = 'how long ago (30m, 1h, 2d) or a moment that has passed (2026-12-01T08:00:00Z)';

/**
 * The moment that a text names, in epoch milliseconds.
 *
 * @throws RangeError with what is right, for the person who typed it
 */
export function sinceOf(given: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  const sinceMs = count === undefined ? momentOf(given) : nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(sinceMs <= nowMs && sinceMs >= 0)) throw new RangeError(RIGHT);
  return sinceMs;
}

/** With a zone or Z: without one it would mean another moment on another machine. NaN when it is none. */
function momentOf(text: string): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
}
