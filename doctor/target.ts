/** The installation to look at. What is null is not looked at. */
export interface Target {
  /** Address of the service's public port, without a slash at the end. */
  readonly url: string;
  readonly adminUrl: string | null;
  readonly token: string | null;
  /** Of the pages that post beacons. */
  readonly origin: string | null;
  readonly app: AppRequest | null;
  readonly prometheusUrl: string | null;
  readonly grafana: { readonly url: string; readonly authorization: string | null } | null;
  readonly collectorUrl: string | null;
  readonly databaseUrl: string | null;
  /** Of the service, where it is on this machine. */
  readonly dataDir: string | null;
  readonly retentionDays: number;
}

/** A request to the application whose answer is streamed. */
export interface AppRequest {
  readonly url: string;
  /** Posted as JSON; null for a GET. */
  readonly body: string | null;
  /** One more header, as `Name: value`. */
  readonly header: readonly [string, string] | null;
}
