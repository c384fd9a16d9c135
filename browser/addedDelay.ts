/** What a transform for smooth reading costs: from a chunk's arrival to its being handed on, milliseconds. */
export interface AddedDelay {
  readonly chunks: number;
  readonly meanMs: number;
  readonly maxMs: number;
}

/** A transform that tells its own cost. */
export type SmoothingTransform<T> = TransformStream<T, T> & {
  /** What it has cost so far. */
  readonly addedDelay: AddedDelay;
};

export interface DelayMeter {
  add(delayMs: number): void;
  read(): AddedDelay;
}

export function createDelayMeter(): DelayMeter {
  let chunks = 0;
  let sumMs = 0;
  let maxMs = 0;
  return {
    add(delayMs) {
      chunks++;
      sumMs += delayMs;
      maxMs = Math.max(maxMs, delayMs);
    },
    read: () => ({ chunks, meanMs: chunks > 0 ? sumMs / chunks : 0, maxMs }),
  };
}
