/** Full buckets that a client can spend at once, in seconds of its rate. */
const BURST_SECONDS = 4;
/** Addresses that are remembered; the one seen longest ago is forgotten first. */
const MAX_ADDRESSES = 100_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * A token bucket per client address; an event costs one token. A full bucket lets even a batch larger than itself pass and is then
 * in debt, so that the average holds and no legitimate batch can never be sent.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param perSecond events per second; 0 is no limit */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * BURST_SECONDS;
  }

  /**
   * @param paid events of the same post that were charged before: a bucket that was full then still counts as full
   * @returns 0 when the events may pass, else the whole seconds to wait
   */
  take(address: string, events: number, paid = 0, nowMs = performance.now()): number {
    if (this.#perSecond === 0) return 0;
    const known = this.#buckets.get(address);
    const refilled = known === undefined ? this.#burst : known.tokens + ((nowMs - known.atMs) / 1000) * this.#perSecond;
    const tokens = Math.min(this.#burst, refilled);
    const needed = Math.min(events, this.#burst - paid);
    const passes = tokens >= needed;
    this.#buckets.delete(address);
    this.#buckets.set(address, { tokens: passes ? tokens - events : tokens, atMs: nowMs });
    if (this.#buckets.size > MAX_ADDRESSES) {
      const oldest = this.#buckets.keys().next();
      if (!oldest.done) this.#buckets.delete(oldest.value);
    }
    return passes ? 0 : Math.max(1, Math.ceil((needed - tokens) / this.#perSecond));
  }
}
