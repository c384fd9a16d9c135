import { createDelayMeter, type SmoothingTransform } from './addedDelay.ts';

export type { AddedDelay, SmoothingTransform } from './addedDelay.ts';

const LEAST_MS = 60;
const MOST_MS = 120;
const GAPS = 5;
/** Chunks that are held at most; then the source has to wait. */
const MAX_HELD = 1_024;

/**
 * The time between two chunks that reads smoothly: the mean of the last five gaps, within 60 to 120 ms.
 *
 * @param gapsMs of the arrivals; without any, the shortest
 */
export function paceMs(gapsMs: readonly number[]): number {
  const last = gapsMs.slice(-GAPS);
  const mean = last.reduce((sum, gap) => sum + gap, 0) / (last.length || 1);
  return Math.min(MOST_MS, Math.max(LEAST_MS, mean));
}

/**
 * Hands chunks on at a reader's pace, the first at once. A stream that is faster than one chunk in 60 ms falls behind: put
 * `coalesce()` before it. A hidden page, which nobody reads and whose timers stand, gets all at once.
 */
export function pace<T>(): SmoothingTransform<T> {
  const delay = createDelayMeter();
  const held: { chunk: T; arrivedAt: number }[] = [];
  const gapsMs: number[] = [];
  let lastArrivalAt: number | undefined;
  let dueAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onRelease: (() => void) | undefined;

  const release = (controller: TransformStreamDefaultController<T>): void => {
    timer = undefined;
    let now = performance.now();
    while (held.length > 0 && (now >= dueAt || globalThis.document?.hidden)) {
      const { chunk, arrivedAt } = held.shift()!;
      try {
        controller.enqueue(chunk);
      } catch {
        // The reader has gone.
        held.length = 0;
      }
      delay.add(now - arrivedAt);
      dueAt = now + paceMs(gapsMs);
      now = performance.now();
    }
    if (held.length > 0) timer = setTimeout(release, dueAt - now, controller);
    onRelease?.();
  };
  const until = (met: () => boolean): Promise<void> | undefined =>
    met()
      ? undefined
      : new Promise((resolve) => {
          onRelease = () => met() && resolve();
        });

  const stream = new TransformStream<T, T>(
    {
      transform(chunk, controller) {
        const arrivedAt = performance.now();
        if (lastArrivalAt !== undefined) gapsMs.push(arrivedAt - lastArrivalAt);
        if (gapsMs.length > GAPS) gapsMs.shift();
        lastArrivalAt = arrivedAt;
        held.push({ chunk, arrivedAt });
        if (timer === undefined) release(controller);
        return until(() => held.length < MAX_HELD);
      },
      flush: () => until(() => held.length === 0),
    },
    undefined,
    // What waits for its turn waits here, so that no chunk's arrival is held up by the one before it.
    { highWaterMark: MAX_HELD },
  );
  return Object.defineProperty(stream, 'addedDelay', { get: delay.read }) as SmoothingTransform<T>;
}
