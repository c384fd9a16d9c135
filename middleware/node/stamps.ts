import { STAMPED_STAGES, STAMPS, type StampedStage } from '../../contract/timingTrace.ts';

/** Nanoseconds of the one clock that all stamps of this process come from. */
export const nowNs = (): bigint => process.hrtime.bigint();

/** The seven stamps of one request. A stamp not taken stays null and is written as 0; none is ever made up. */
export class Stamps {
  readonly #takenNs: (bigint | null)[] = new Array(STAMPS).fill(null);
  /** Each in decimal, once: the header is written up to three times, and a BigInt is slow to print. */
  readonly #texts: string[] = new Array(STAMPS).fill('0');

  /** Takes t0: the request enters the server. */
  constructor(enteredAtNs: bigint = nowNs()) {
    this.#take(0, enteredAtNs);
  }

  /**
   * Takes the stamp that ends `stage`, once. Refused when a later one is taken already or an earlier one lies after it: the
   * stamps of a trace never fall.
   *
   * @returns whether it was taken
   */
  end(stage: StampedStage, atNs: bigint = nowNs()): boolean {
    const position = STAMPED_STAGES.indexOf(stage) + 1;
    for (let at = 0; at < STAMPS; at++) {
      const otherNs = this.#takenNs[at]!;
      if (otherNs !== null && (at >= position || otherNs > atNs)) return false;
    }
    this.#take(position, atNs);
    return true;
  }

  /** The value of `X-Timing-Trace` as it stands. */
  toString(): string {
    return this.#texts.join(',');
  }

  #take(position: number, atNs: bigint): void {
    this.#takenNs[position] = atNs;
    this.#texts[position] = String(atNs);
  }
}
