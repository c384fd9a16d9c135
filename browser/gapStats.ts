import type { GapStats } from '../contract/beacon.ts';

const FIRST_SCREEN_TOKENS = 50;
const FIRST_TOKENS = 20;
const WINDOW_GAPS = 10;

/**
 * What a stream too long to list says of its gaps; the same arithmetic as the ingest's, which computes it for shorter ones.
 *
 * @param offsets of the token-bearing events, milliseconds, rising, at least one
 * @param tokens of each of them; where unknown, each counts as one
 */
export function gapStats(offsets: readonly number[], tokens: readonly number[] | undefined): GapStats {
  const last = offsets.length - 1;
  const gap = (event: number): number => offsets[event]! - offsets[event - 1]!;
  const meanOf = (from: number, to: number): number => (offsets[to]! - offsets[from]!) / (to - from);
  const stddev = (from: number, to: number): number => {
    const mean = meanOf(from, to);
    let squares = 0;
    for (let event = from + 1; event <= to; event++) squares += (gap(event) - mean) ** 2;
    return Math.sqrt(squares / (to - from));
  };
  const firstTokens = tokens?.[0] ?? 1;
  let seen = 0;
  let max = 0;
  let worst = 0;
  let first20: number | null | undefined;
  let firstScreen: number | undefined;
  for (let event = 0; event <= last; event++) {
    seen += tokens?.[event] ?? 1;
    if (event > 0) max = Math.max(max, gap(event));
    if (event >= WINDOW_GAPS) worst = Math.max(worst, stddev(event - WINDOW_GAPS, event));
    // When the first event brought them all, they took no time that was seen.
    if (seen >= FIRST_TOKENS && first20 === undefined) {
      first20 = event > 0 ? (offsets[event]! - offsets[0]!) / (seen - firstTokens) : null;
    }
    if (seen >= FIRST_SCREEN_TOKENS) firstScreen ??= offsets[event]!;
  }
  return {
    count: last,
    mean_ms: last > 0 ? meanOf(0, last) : null,
    stddev_ms: last > 1 ? stddev(0, last) : null,
    max_ms: max,
    first20_mean_ms: first20 ?? null,
    window10_stddev_max_ms: worst,
    first_screen_ms: firstScreen ?? null,
    last_token_ms: offsets[last]!,
    first_tokens: tokens?.[0] ?? null,
  };
}
