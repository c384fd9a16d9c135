import type { Beacon } from '../contract/beacon.ts';

export interface RenderLag {
  /** A token arrived, by `performance.now()`. */
  arrived(at: number): void;
  /** The document has all tokens that have arrived: the next frame paints them. */
  rendered(): void;
  /** A hidden page paints nothing, which is no lag. */
  forget(): void;
  /** Milliseconds; undefined while nothing was painted. */
  facts(): Beacon['render'];
}

/** To watch each frame would cost more of the main thread than all the rest; so many looks a second say the same. */
const LOOK_EVERY_MS = 100;

/** Those with tokens that wait to be painted. */
const unpainted = new Set<RenderLag>();

/** The page has put all that it has read into its document: the next frame paints it. */
export function markRendered(): void {
  for (const lag of unpainted) lag.rendered();
}

/**
 * Measures how long after its arrival a token is painted, so that a slow page is not blamed on the model. Nothing is measured
 * where nothing is painted, and of a quick stream not each token: the first, then one in a tenth of a second.
 *
 * @param byFrame the next frame paints what arrives; else what {@link RenderLag.rendered} says
 */
export function createRenderLag(startedAt: number, byFrame: boolean): RenderLag {
  const lags: number[] = [];
  let waiting: number[] = [];
  let scheduled = false;
  let firstMs: number | undefined;
  let lookAt = 0;

  const painted = (): void => {
    const at = performance.now();
    scheduled = false;
    if (waiting.length > 0) firstMs ??= at - startedAt;
    for (const arrival of waiting) lags.push(at - arrival);
    forget();
  };
  const forget = (): void => {
    waiting = [];
    unpainted.delete(lag);
  };
  const rendered = (): void => {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    // The callback runs before the frame is painted; a task that it queues runs after.
    requestAnimationFrame(() => setTimeout(painted));
  };
  const lag: RenderLag = {
    arrived(at) {
      if (at < lookAt || !globalThis.document || document.hidden) return;
      lookAt = at + LOOK_EVERY_MS;
      waiting.push(at);
      unpainted.add(lag);
      if (byFrame) rendered();
    },
    rendered,
    forget,
    facts() {
      if (firstMs === undefined) return undefined;
      const rising = lags.toSorted((one, other) => one - other);
      return { first_ms: firstMs, p50_ms: rising[rising.length >> 1]!, max_ms: rising.at(-1)! };
    },
  };
  return lag;
}
