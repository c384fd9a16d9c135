import type { Connection, Device } from '../contract/beacon.ts';

/** One word, so that the user agent's string stays where it is. */
export function deviceKind(): Device {
  if (!globalThis.document) return 'server';
  const { userAgent } = navigator;
  return /Mobi/.test(userAgent) ? 'mobile' : /Android|iPad|Tablet/.test(userAgent) ? 'tablet' : 'desktop';
}

/** The kind of network, where the browser tells. */
export function connectionType(): Connection | undefined {
  const { navigator } = globalThis as { navigator?: { connection?: { effectiveType?: Connection } } };
  return navigator?.connection?.effectiveType;
}
