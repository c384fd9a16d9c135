/** For tests: what a page has around its scripts, as far as the SDK asks for it. */
import { vi } from 'vitest';

export const PAGE = 'https://app.example';
const BUDGET_BYTES = 65_536;

export interface PageDouble {
  /** Bodies that `sendBeacon` took. */
  readonly beaconed: string[];
  hide(): void;
  show(): void;
  /** @param persisted the page goes into the back/forward cache */
  leave(persisted: boolean): void;
  /** Paints a frame. */
  frame(): void;
}

/** Puts the double's parts in place of the globals; `vi.unstubAllGlobals()` takes them away. */
export function openPage(): PageDouble {
  const target = new EventTarget();
  const page = { hidden: false, baseURI: `${PAGE}/chat` };
  const beaconed: string[] = [];
  let frames: FrameRequestCallback[] = [];
  let queuedBytes = 0;
  vi.stubGlobal('document', page);
  vi.stubGlobal('location', new URL(page.baseURI));
  vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
  vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => frames.push(callback));
  vi.stubGlobal('navigator', {
    userAgent: 'Mozilla/5.0 (Linux; Android 14) Mobile',
    connection: { effectiveType: '4g' },
    sendBeacon(_url: string, body: string) {
      const bytes = Buffer.byteLength(body);
      if (queuedBytes + bytes > BUDGET_BYTES) return false;
      queuedBytes += bytes;
      beaconed.push(body);
      return true;
    },
  });
  const dispatch = (type: string, fields = {}): void =>
    void target.dispatchEvent(Object.assign(new Event(type), fields));
  return {
    beaconed,
    hide() {
      page.hidden = true;
      dispatch('visibilitychange');
    },
    show() {
      page.hidden = false;
      dispatch('visibilitychange');
    },
    leave(persisted) {
      dispatch('pagehide', { persisted });
      page.hidden = true;
      dispatch('visibilitychange');
    },
    frame() {
      const due = frames;
      frames = [];
      for (const callback of due) callback(performance.now());
    },
  };
}
