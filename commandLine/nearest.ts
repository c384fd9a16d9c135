/** The word that was probably meant: at most a third of its letters differ, or it begins with what was given; else undefined. */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, distance: distanceOf(given, word) }))
    .filter(
      ({ word, distance }) => distance <= Math.max(1, word.length / 3) || (given.length > 1 && word.startsWith(given)),
    )
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.word;
}

/** Letters to insert, delete, replace or swap with a neighbour. */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      current.push(least);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
