/** What compose starts something with, and what stands in its place here. */
export type Replacement = readonly [shipped: string, here: string];

/** An address, or a path: the only things in which this stack may differ from the one that compose starts. */
const ADDRESS = /^(?:[a-z]+:\/\/)?[\w.-]+:\d+(?:\/[\w./-]*)?$|^(?:\/[\w.*-]+)+\/?$|^listen (?:[\d.]+:)?\d+;$/;

/**
 * The shipped text with other addresses.
 *
 * @throws Error for a replacement that is none of an address, or that the text does not hold
 */
export function withAddresses(shipped: string, replacements: readonly Replacement[]): string {
  let text = shipped;
  for (const [from, to] of replacements) {
    if (!ADDRESS.test(from) || !ADDRESS.test(to)) throw new Error(`no address: ${from}, ${to}`);
    if (!text.includes(from)) throw new Error(`the shipped text does not hold ${from}`);
    text = text.replaceAll(from, () => to);
  }
  return text;
}

/** The shipped text again, from what a program was started with. */
export function withoutAddresses(used: string, replacements: readonly Replacement[]): string {
  return replacements.toReversed().reduce((text, [from, to]) => text.replaceAll(to, () => from), used);
}
