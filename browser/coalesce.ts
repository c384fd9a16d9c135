import { createDelayMeter, type SmoothingTransform } from './addedDelay.ts';

export type { AddedDelay, SmoothingTransform } from './addedDelay.ts';

const EVERY_MS = 150;

/**
 * Merges pieces of text, so that a page renders once in 150 ms instead of for each token. The first piece, and one after a longer
 * pause, passes at once.
 */
export function coalesce(everyMs: number = EVERY_MS): SmoothingTransform<string> {
  const delay = createDelayMeter();
  let text = '';
  let arrivals: number[] = [];
  let passedAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const pass = (controller: TransformStreamDefaultController<string>): void => {
    clearTimeout(timer);
    timer = undefined;
    if (text === '') return;
    passedAt = performance.now();
    for (const arrivedAt of arrivals) delay.add(passedAt - arrivedAt);
    const merged = text;
    text = '';
    arrivals = [];
    try {
      controller.enqueue(merged);
    } catch {
      // The reader has gone.
    }
  };

  const stream = new TransformStream<string, string>(
    {
      transform(piece, controller) {
        const arrivedAt = performance.now();
        text += piece;
        arrivals.push(arrivedAt);
        const waitMs = passedAt + everyMs - arrivedAt;
        if (waitMs <= 0) pass(controller);
        else timer ??= setTimeout(pass, waitMs, controller);
      },
      flush: pass,
    },
    undefined,
    // Pieces must arrive while nobody has asked for them yet, or there is nothing to merge.
    { highWaterMark: 1 },
  );
  return Object.defineProperty(stream, 'addedDelay', { get: delay.read }) as SmoothingTransform<string>;
}
