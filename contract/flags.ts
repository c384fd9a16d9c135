/**
 * Remarks on a request's row, stored as bits of one integer. Each half owns its own bits, so that a later report of that half can
 * set and clear them without touching the rest.
 */
export const FLAG_BITS = {
  /** Many events came in one read: a proxy held the stream back. Gaps and TPOT say nothing about the model. */
  coalesced: 1,
  /** The machine slept during the stream: no duration of this half can be trusted. */
  suspended: 2,
  /** The page was hidden at some time during the stream. */
  hidden: 4,
  /** The tokens of the first event are unknown; TPOT counts it as one token. */
  first_tokens_unknown: 8,
  /** Server-Timing claimed more time than the stamps leave uncovered; it was capped. */
  stage_overflow: 16,
  /** The client saw its first token sooner than the server's own account allows. */
  clock_anomaly: 32,
  /** The reported start was not credible; the time of arrival stands in its place. */
  started_at_replaced: 64,
} as const;

export type Flag = keyof typeof FLAG_BITS;

export const FLAGS = Object.keys(FLAG_BITS) as readonly Flag[];

/** Bits that the client's half sets. */
export const CLIENT_FLAG_BITS =
  FLAG_BITS.coalesced | FLAG_BITS.suspended | FLAG_BITS.hidden | FLAG_BITS.first_tokens_unknown;

/** The flags whose bits are set, in the order of their bits. */
export function flagsOf(bits: number): Flag[] {
  return FLAGS.filter((flag) => (bits & FLAG_BITS[flag]) !== 0);
}
