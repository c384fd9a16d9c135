/** What the generator is asked to do; it answers each order once. */
export type Order =
  /** Makes the posts of the next load or flood. */
  | { readonly kind: 'prepare'; readonly posts: number; readonly lines: number }
  | {
      readonly kind: 'load';
      readonly ports: readonly number[];
      readonly connections: number;
      readonly seconds: number;
      /** Posts a second; absent: each connection posts again as soon as it has its answer. */
      readonly ratePerS?: number;
    }
  | ({ readonly kind: 'flood' } & Flood);

/** Posts that are due by the clock, whether or not earlier ones were answered, over so many sockets at most. */
export interface Flood {
  readonly port: number;
  readonly connections: number;
  /** How long it counts; one second more comes before that. */
  readonly seconds: number;
  readonly ratePerS: number;
}

/** A load ends with its time, or when all prepared posts are sent. */
export interface LoadResult {
  readonly elapsedS: number;
  readonly posts: number;
  readonly accepted: number;
  /** Statuses other than 2xx; 0: the connection broke. */
  readonly refused: Readonly<Record<string, number>>;
  /** With a rate: from when the post was due, so that a wait for a free connection counts. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of one core that the generator itself was busy. */
  readonly busyShare: number;
}

/** Of the time that counts. */
export interface FloodResult {
  /** Posts that were due and found no socket free. */
  readonly unsent: number;
  /** Answered with 2xx before the time was over. */
  readonly accepted: number;
  /** Statuses other than 2xx; 0: the connection broke. */
  readonly refused: Readonly<Record<string, number>>;
  /** How long after it was due a post was looked at: the generator's own delay. */
  readonly lateP99Ms: number;
  readonly busyShare: number;
}

export const TOKEN = 'bench-token';
