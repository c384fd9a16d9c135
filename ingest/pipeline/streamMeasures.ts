import type { Beacon } from '../../contract/beacon.ts';
import type { StreamMeasures } from './half.ts';

/** Output tokens that fill a first screen. */
const FIRST_SCREEN_TOKENS = 50;
const FIRST_TOKENS = 20;
const WINDOW_GAPS = 10;

/**
 * Measures one stream from its beacon: from `arrivals_ms` where they are, else from what the client counted in `gap_stats`.
 *
 * TPOT is `(t_last - t_first) / (N - n_first)`: the tokens of the first event took no time that we saw, so they are not divided
 * by. With speculative decoding an event bears several tokens, which is why a gap is not a TPOT.
 */
export function measureStream(beacon: Beacon): StreamMeasures {
  const arrivals = beacon.arrivals_ms;
  if (arrivals && arrivals.length > 0)
    return measureArrivals(arrivals, beacon.chunk_tokens ?? null, beacon.output_tokens ?? null);
  const stats = beacon.gap_stats;
  if (!stats) return NOTHING;
  const firstTokens = stats.first_tokens ?? null;
  return {
    tpotMs: tpot(beacon.ttft_ms ?? null, stats.last_token_ms ?? null, beacon.output_tokens ?? null, firstTokens ?? 1),
    gapMaxMs: stats.count >= 1 ? (stats.max_ms ?? null) : null,
    gapMeanMs: stats.count >= 1 ? (stats.mean_ms ?? null) : null,
    gapStddevMs: stats.count >= 2 ? (stats.stddev_ms ?? null) : null,
    first20MeanMs: stats.first20_mean_ms ?? null,
    window10StddevMaxMs: stats.count >= WINDOW_GAPS ? (stats.window10_stddev_max_ms ?? null) : null,
    firstScreenMs: stats.first_screen_ms ?? null,
    firstTokensUnknown: firstTokens === null && beacon.output_tokens != null,
  };
}

const NOTHING: StreamMeasures = {
  tpotMs: null,
  gapMaxMs: null,
  gapMeanMs: null,
  gapStddevMs: null,
  first20MeanMs: null,
  window10StddevMaxMs: null,
  firstScreenMs: null,
  firstTokensUnknown: false,
};

function tpot(
  firstMs: number | null,
  lastMs: number | null,
  tokens: number | null,
  firstTokens: number,
): number | null {
  if (firstMs === null || lastMs === null || tokens === null || tokens - firstTokens < 1 || lastMs < firstMs)
    return null;
  return (lastMs - firstMs) / (tokens - firstTokens);
}

function measureArrivals(
  arrivals: readonly number[],
  chunkTokens: readonly number[] | null,
  outputTokens: number | null,
): StreamMeasures {
  const gaps = arrivals.length - 1;
  const firstMs = arrivals[0]!;
  const lastMs = arrivals[gaps]!;
  // Without the chunks' tokens each event counts as one: right for most engines, and marked where it was needed.
  const firstTokens = chunkTokens?.[0] ?? 1;

  let seen = firstTokens;
  let sum = 0;
  let max = 0;
  let first20MeanMs: number | null = null;
  // When one event brought them all, they took no time that we saw.
  let first20Seen = seen >= FIRST_TOKENS;
  let firstScreenMs: number | null = seen >= FIRST_SCREEN_TOKENS ? firstMs : null;
  for (let event = 1; event <= gaps; event++) {
    const gap = arrivals[event]! - arrivals[event - 1]!;
    sum += gap;
    if (gap > max) max = gap;
    seen += chunkTokens?.[event] ?? 1;
    if (!first20Seen && seen >= FIRST_TOKENS) {
      first20Seen = true;
      first20MeanMs = tpot(firstMs, arrivals[event]!, seen, firstTokens);
    }
    if (firstScreenMs === null && seen >= FIRST_SCREEN_TOKENS) firstScreenMs = arrivals[event]!;
  }
  return {
    tpotMs: tpot(firstMs, lastMs, outputTokens ?? seen, firstTokens),
    gapMaxMs: gaps > 0 ? max : null,
    gapMeanMs: gaps > 0 ? sum / gaps : null,
    gapStddevMs: gaps >= 2 ? stddevOfGaps(arrivals, 1, gaps) : null,
    first20MeanMs,
    window10StddevMaxMs: gaps >= WINDOW_GAPS ? worstWindow(arrivals) : null,
    firstScreenMs,
    firstTokensUnknown: chunkTokens === null && outputTokens !== null,
  };
}

/** Population standard deviation of the gaps that end at events `first` to `last`; in two passes, which loses no digits. */
function stddevOfGaps(arrivals: readonly number[], first: number, last: number): number {
  const count = last - first + 1;
  const mean = (arrivals[last]! - arrivals[first - 1]!) / count;
  let squares = 0;
  for (let event = first; event <= last; event++) {
    const deviation = arrivals[event]! - arrivals[event - 1]! - mean;
    squares += deviation * deviation;
  }
  return Math.sqrt(squares / count);
}

function worstWindow(arrivals: readonly number[]): number {
  let worst = 0;
  for (let last = WINDOW_GAPS; last < arrivals.length; last++) {
    worst = Math.max(worst, stddevOfGaps(arrivals, last - WINDOW_GAPS + 1, last));
  }
  return worst;
}
