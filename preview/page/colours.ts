const probe = document.documentElement.appendChild(document.createElement('i'));

/** The page's own colours are in its style sheet, so that charts and text agree, light and dark. */
export function themeColour(name: string): string {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

const NAMED = new Set(['green', 'orange', 'red', 'blue', 'text']);

/** A colour as the dashboards name it. */
export function colourOf(name: string): string {
  return NAMED.has(name) ? themeColour(name) : name;
}

/** Of series without a colour of their own; told apart with any common kind of colour vision. */
export const PALETTE = ['#5794f2', '#ff9830', '#56a64b', '#b877d9', '#e0497a', '#37b3b3', '#c4a000', '#8f8f8f'];

const GREEN_YELLOW_RED = [
  [86, 166, 75],
  [242, 204, 12],
  [224, 47, 68],
] as const;

/** Between green, yellow and red. @param share 0 to 1 */
export function greenToRed(share: number): string {
  const at = Math.min(1, Math.max(0, share)) * 2;
  const from = Math.min(1, Math.floor(at));
  const mixed = [0, 1, 2].map((part) => {
    const [low, high] = [GREEN_YELLOW_RED[from]![part]!, GREEN_YELLOW_RED[from + 1]![part]!];
    return Math.round(low + (high - low) * (at - from));
  });
  return `rgb(${mixed.join(' ')})`;
}

/** Black or white, whichever is read better on it. */
export function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (/^rgb\(([\d ]+)\)$/.exec(colour)?.[1] ?? '').split(' ').map(Number);
  return red * 0.299 + green * 0.587 + blue * 0.114 > 140 ? '#111' : '#fff';
}
