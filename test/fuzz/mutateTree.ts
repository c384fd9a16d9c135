import type { Random } from '../../demo/random.ts';
import { chance, pick, upTo } from './draw.ts';
import { NASTY_NAMES, NASTY_NUMBERS, NASTY_TEXTS } from './nasty.ts';

type Tree = unknown;

/** Stands for a number that no JavaScript value can: written without its quotes. */
const RAW = '@raw:';
const MAX_DEPTH = 3_000;

/** A JSON text made from a value by a few random changes of its structure: what bytes alone would rarely hit. */
export function mutateTree(seed: Tree, random: Random): string {
  const root = { value: structuredClone(seed) };
  for (let change = chance(random, 0.7) ? 1 : 1 + upTo(random, 4); change > 0; change -= 1)
    mutateAt(root, 'value', random);
  return (JSON.stringify(root.value) ?? 'null').replaceAll(/"@raw:([^"]*)"/g, '$1');
}

/** Goes down to a random place below `holder[key]` and changes it. */
function mutateAt(holder: Record<string, Tree>, key: string, random: Random): void {
  const value = holder[key];
  const isTree = typeof value === 'object' && value !== null;
  if (isTree) {
    const keys = Object.keys(value);
    if (keys.length > 0 && chance(random, 0.7))
      return mutateAt(value as Record<string, Tree>, pick(random, keys), random);
    if (chance(random, 0.6)) return changeInside(value as Record<string, Tree>, random);
  }
  set(holder, key, replacement(value, random));
}

function changeInside(tree: Record<string, Tree> | Tree[], random: Random): void {
  if (Array.isArray(tree)) return changeList(tree, random);
  const keys = Object.keys(tree);
  const key = keys.length > 0 ? pick(random, keys) : '';
  switch (upTo(random, 6)) {
    case 0:
    case 1:
      delete tree[key];
      break;
    case 2:
      set(tree, pick(random, NASTY_NAMES), tree[key]);
      break;
    case 3:
      for (let each = upTo(random, 40); each > 0; each -= 1) set(tree, `n${each}`, nasty(random));
      break;
    default:
      set(tree, pick(random, NASTY_NAMES), nasty(random));
  }
}

function changeList(list: Tree[], random: Random): void {
  const at = upTo(random, list.length);
  switch (upTo(random, 4)) {
    case 0:
      list.splice(at, 1 + upTo(random, 3));
      break;
    case 1:
      list.splice(at, 0, nasty(random));
      break;
    case 2:
      list.push(...list.slice(0, 100), ...list.slice(0, 100));
      break;
    default:
      list.reverse();
  }
}

function replacement(value: Tree, random: Random): Tree {
  if (typeof value === 'string' && chance(random, 0.4)) {
    const at = upTo(random, value.length + 1);
    return value.slice(0, at) + pick(random, NASTY_TEXTS) + value.slice(at + upTo(random, 3));
  }
  if (chance(random, 0.05)) return nested(1 + upTo(random, MAX_DEPTH), chance(random, 0.5));
  if (typeof value === 'number' && chance(random, 0.5)) return RAW + pick(random, NASTY_NUMBERS);
  if (chance(random, 0.2)) return [value, value];
  return nasty(random);
}

function nasty(random: Random): Tree {
  switch (upTo(random, 7)) {
    case 0:
      return null;
    case 1:
      return chance(random, 0.5);
    case 2:
      return [];
    case 3: {
      const tree = {};
      set(tree, pick(random, NASTY_NAMES), pick(random, NASTY_TEXTS));
      return tree;
    }
    case 4:
      return RAW + pick(random, NASTY_NUMBERS);
    default:
      return pick(random, NASTY_TEXTS);
  }
}

function nested(depth: number, arrays: boolean): Tree {
  let tree: Tree = 1;
  for (let level = 0; level < depth; level += 1) tree = arrays ? [tree] : { a: tree };
  return tree;
}

/** Also `__proto__` becomes a field of its own, as `JSON.parse` would make it. */
function set(holder: object, key: string, value: Tree): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
