import { BIT, HALVES, type HalfName } from './requests.ts';

/** What was sent, and what was acknowledged, of each request of a run: one byte for each. */
export class Ledger {
  #sent = new Uint8Array(4_096);
  #acknowledged = new Uint8Array(4_096);
  #requests = 0;

  /** Requests that were begun; their numbers count from 0. */
  get requests(): number {
    return this.#requests;
  }

  /** @returns the new request's number */
  begin(): number {
    if (this.#requests === this.#sent.length) {
      this.#sent = grown(this.#sent);
      this.#acknowledged = grown(this.#acknowledged);
    }
    return this.#requests++;
  }

  send(number: number, half: HalfName): void {
    this.#sent[number]! |= BIT[half];
  }

  acknowledge(number: number, half: HalfName): void {
    this.#acknowledged[number]! |= BIT[half];
  }

  wasSent(number: number, half: HalfName): boolean {
    return (this.#sent[number]! & BIT[half]) !== 0;
  }

  isAcknowledged(number: number, half: HalfName): boolean {
    return (this.#acknowledged[number]! & BIT[half]) !== 0;
  }

  /** Distinct events: sent at least once, and acknowledged at least once. */
  count(): { sent: number; acknowledged: number } {
    const bits = (bytes: Uint8Array) =>
      bytes
        .subarray(0, this.#requests)
        .reduce((sum, byte) => sum + HALVES.filter((half) => byte & BIT[half]).length, 0);
    return { sent: bits(this.#sent), acknowledged: bits(this.#acknowledged) };
  }
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}
