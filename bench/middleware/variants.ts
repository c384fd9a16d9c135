/**
 * `plain` is the app alone; `timed` the app behind the middleware as it comes; `explicit` the same with `context: false`, for an app
 * that asks its request itself. `context` runs the app inside an AsyncLocalStorage and nothing more, which is what any middleware that
 * knows its request pays to Node.
 */
export const VARIANTS = ['plain', 'context', 'explicit', 'timed'] as const;

export type Variant = (typeof VARIANTS)[number];

export const ofEach = <T>(make: (variant: Variant) => T): Record<Variant, T> =>
  Object.fromEntries(VARIANTS.map((variant) => [variant, make(variant)])) as Record<Variant, T>;

/** So that each follows each of the others as often as it precedes it. */
export function orderOfTurn(turn: number): Variant[] {
  const first = (turn >> 1) % VARIANTS.length;
  const order = [...VARIANTS.slice(first), ...VARIANTS.slice(0, first)];
  return turn % 2 === 0 ? order : order.reverse();
}
