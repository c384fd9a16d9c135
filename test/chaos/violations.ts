/** Broken promises by kind, with how often each was broken. */
export class Violations {
  readonly #byKind = new Map<string, number>();

  get count(): number {
    return [...this.#byKind.values()].reduce((sum, times) => sum + times, 0);
  }

  get kinds(): ReadonlyMap<string, number> {
    return this.#byKind;
  }

  add(what: string, times = 1): void {
    this.#byKind.set(what, (this.#byKind.get(what) ?? 0) + times);
  }
}
