/** What the chat page is told by the process that serves it. */
export interface PageSettings {
  /** Where its beacons go. */
  readonly endpoint: string;
  /** Before the path of a request that a proxy is to hold back; empty where the gateway itself knows which. */
  readonly collectingPrefix: string;
  readonly scenarios: readonly { readonly name: string; readonly about: string; readonly weight: number }[];
}
