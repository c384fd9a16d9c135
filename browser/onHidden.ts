/**
 * Calls back whenever the page may never run again. `leaving`: it is being closed, reloaded or left for good, and its requests end
 * with it; else it is hidden or goes into the back/forward cache, and may be back. One turn of the page can call more than once.
 * There is no `unload` handler, which would keep the page out of that cache.
 */
export function onHidden(callback: (leaving: boolean) => void): void {
  if (!globalThis.document) return;
  // Safari tells of a page that is left by `pagehide` alone.
  addEventListener('pagehide', (event) => callback(!event.persisted), true);
  addEventListener('visibilitychange', () => document.hidden && callback(false), true);
}
