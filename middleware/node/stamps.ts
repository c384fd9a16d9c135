import { formatTimingTrace, STAMPED_STAGES, STAMPS, type StampedStage } from '../../contract/timingTrace.ts';

/** Nanoseconds of the one clock that all stamps of this process come from. */
export const nowNs = (): bigint => process.hrtime.bigint();

/** The seven stamps of one request. A stamp not taken stays null and is written as 0; none is ever made up. */
export class Stamps {
  readonly #takenNs: (bigint | null)[] = new Array(STAMPS).fill(null);

  /** Takes t0: the request enters the server. */
  constructor(enteredAtNs: bigint = nowNs()) {
    this.#takenNs[0] = enteredAtNs;
  }

  /**
   * Takes the stamp that ends `stage`, once. Refused when a later one is taken already or an earlier one lies after it: the
   * stamps of a trace never fall.
   *
   * @returns whether it was taken
   */
  end(stage: StampedStage, atNs: bigint = nowNs()): boolean {
    const position = STAMPED_STAGES.indexOf(stage) + 1;
    const refused = this.#takenNs.some((otherNs, at) => otherNs !== null && (at >= position || otherNs > atNs));
    if (!refused) this.#takenNs[position] = atNs;
    return !refused;
  }

  /** The value of `X-Timing-Trace` as it stands. */
  toString(): string {
    return formatTimingTrace(this.#takenNs);
  }
}
