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
