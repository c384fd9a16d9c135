/**
 * `plain` is the app alone, `timed` the app behind the middleware; `context` runs it inside an AsyncLocalStorage and nothing more,
 * which is what any middleware that knows its request pays to Node.
 */
export const VARIANTS = ['plain', 'context', 'timed'] as const;

export type Variant = (typeof VARIANTS)[number];
