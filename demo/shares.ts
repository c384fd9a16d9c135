import { PARTS, type Part, type PartsNs } from './figures.ts';

/** The part that took longest and its share of the sum of all parts; null when nothing is known. */
export function dominantPart(parts: PartsNs): { readonly part: Part; readonly share: number } | null {
  const shares = partShares(parts);
  let dominant: Part | null = null;
  for (const part of PARTS) {
    if ((shares[part] ?? 0) > (dominant === null ? 0 : (shares[dominant] ?? 0))) dominant = part;
  }
  return dominant === null ? null : { part: dominant, share: shares[dominant] ?? 0 };
}

/** Each part's share of the sum of all, 0 to 1; null stays null, for a part that nobody measured is not a part of 0. */
export function partShares(parts: PartsNs): PartsNs {
  const sum = PARTS.reduce((total, part) => total + (parts[part] ?? 0), 0);
  const share = (value: number | null): number | null => (value === null || sum === 0 ? null : value / sum);
  return Object.fromEntries(PARTS.map((part) => [part, share(parts[part])])) as Record<Part, number | null>;
}
