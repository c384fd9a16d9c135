import type { Random } from '../../demo/random.ts';

/** One reader of input from outside. */
export interface FuzzTarget {
  readonly name: string;
  /** Of all inputs, how many come here. */
  readonly weight: number;
  make(random: Random): Buffer;
  /** Reads the input, and throws where a promise is broken. Must depend on nothing but the input. */
  check(input: Buffer): void | Promise<void>;
}
