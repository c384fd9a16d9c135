import { STAMPED_STAGES, STAMPS, type StampedStage } from '../../contract/timingTrace.ts';
import { inNanoseconds, isAfter, type Reading, readClock } from './clock.ts';

/** The seven stamps of one request. A stamp not taken is written as 0; none is ever made up. */
export class Stamps {
  /** Each in decimal, once: the trace is written up to three times. */
  readonly #texts: string[] = new Array(STAMPS).fill('0');
  #last = 0;
  #lastAt: Reading;

  /** Takes t0: the request enters the server. */
  constructor(enteredAt: Reading = readClock()) {
    this.#lastAt = enteredAt;
    this.#texts[0] = inNanoseconds(enteredAt);
  }

  /**
   * Takes the stamp that ends `stage`, once. Refused when it or a later one is taken already, or when the last one lies after it: the
   * stamps of a trace never fall.
   *
   * @returns whether it was taken
   */
  end(stage: StampedStage, at: Reading = readClock()): boolean {
    const position = STAMPED_STAGES.indexOf(stage) + 1;
    if (position <= this.#last || isAfter(this.#lastAt, at)) return false;
    this.#last = position;
    this.#lastAt = at;
    this.#texts[position] = inNanoseconds(at);
    return true;
  }

  /** The value of `X-Timing-Trace` as it stands. */
  toString(): string {
    const [t0, t1, t2, t3, t4, t5, t6] = this.#texts;
    return `${t0},${t1},${t2},${t3},${t4},${t5},${t6}`;
  }
}
