const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

/** Puts text into a colour, or leaves it as it is. */
export type Tint = (colour: keyof typeof CODES, text: string) => string;

/**
 * Colours words for a terminal. Off elsewhere, and wherever NO_COLOR has any value (https://no-color.org); FORCE_COLOR switches it on
 * for a pipe.
 */
export function createTint(output: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Tint {
  const forced = Boolean(env['FORCE_COLOR']) && env['FORCE_COLOR'] !== '0';
  const on = !env['NO_COLOR'] && (forced || (output.isTTY === true && env['TERM'] !== 'dumb'));
  return (colour, text) => (on ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text);
}
