import type { Random } from '../../demo/random.ts';
import { chance, pick, upTo } from './draw.ts';

/** Bytes made from others by a few random changes: flips, cuts, copies, and words from a dictionary. */
export function mutateBytes(seed: Buffer, random: Random, words: readonly (string | Buffer)[]): Buffer {
  let bytes: Buffer = Buffer.from(seed);
  for (let change = 1 + upTo(random, 4); change > 0; change -= 1) bytes = changeOnce(bytes, random, words);
  return bytes;
}

function changeOnce(bytes: Buffer, random: Random, words: readonly (string | Buffer)[]): Buffer {
  const at = upTo(random, bytes.length + 1);
  const end = Math.min(bytes.length, at + upTo(random, chance(random, 0.8) ? 8 : bytes.length + 1));
  const [before, between, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  switch (upTo(random, 7)) {
    case 0: {
      if (bytes.length === 0) return bytes;
      const flipped = Buffer.from(bytes);
      flipped[upTo(random, bytes.length)]! ^= 1 << upTo(random, 8);
      return flipped;
    }
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, between, between, after]);
    case 3:
      return Buffer.concat([before, Buffer.from([upTo(random, 256)]), after]);
    case 4:
      return before;
    default:
      return Buffer.concat([
        before,
        Buffer.from(pick(random, words)),
        chance(random, 0.5) ? between : Buffer.alloc(0),
        after,
      ]);
  }
}
