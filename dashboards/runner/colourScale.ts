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
