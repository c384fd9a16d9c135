import type { Random } from '../../demo/random.ts';

export function chance(random: Random, share: number): boolean {
  return random() < share;
}

/** A whole number from 0 to `below` - 1; 0 where there is none. */
export function upTo(random: Random, below: number): number {
  return Math.floor(random() * below);
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[upTo(random, items.length)]!;
}
