/** The named parts of the way to the first token, in the order in which a request passes them. */
export const STAGES = [
  'gateway',
  'receive',
  'preprocess',
  'kv_load',
  'queue',
  'first_token',
  'serialize',
  'send',
  'network',
  'render',
] as const;

export type Stage = (typeof STAGES)[number];

/** Stages that the server measures itself. `receive` is a slow upload, so it stands outside the server's TTFT. */
export const SERVER_STAGES = ['receive', 'preprocess', 'kv_load', 'queue', 'first_token', 'serialize', 'send'] as const;

export type ServerStage = (typeof SERVER_STAGES)[number];

/** Stages that together with `unattributed` make up the server's TTFT. */
export const SERVER_TTFT_STAGES = ['preprocess', 'kv_load', 'queue', 'first_token', 'serialize', 'send'] as const;

/** Durations of the server's stages in nanoseconds; null where nobody reported one. */
export type ServerStagesNs = Record<ServerStage, number | null>;

export const NO_SERVER_STAGES: Readonly<ServerStagesNs> = Object.freeze({
  receive: null,
  preprocess: null,
  kv_load: null,
  queue: null,
  first_token: null,
  serialize: null,
  send: null,
});

/**
 * Names under which servers and engines report a stage in `Server-Timing`, lower case. A name that is not here is a sub-stage:
 * kept and shown with its request, never added to the sum.
 */
export const STAGE_ALIASES: ReadonlyMap<string, ServerStage> = new Map<string, ServerStage>([
  ['receive', 'receive'],
  ['upload', 'receive'],
  ['preprocess', 'preprocess'],
  ['preprocessing', 'preprocess'],
  ['tokenize', 'preprocess'],
  ['tokenization', 'preprocess'],
  ['kv_load', 'kv_load'],
  ['kv', 'kv_load'],
  ['kv_cache', 'kv_load'],
  ['kv-cache', 'kv_load'],
  ['queue', 'queue'],
  ['queue_time', 'queue'],
  ['first_token', 'first_token'],
  ['first-token', 'first_token'],
  ['prefill', 'first_token'],
  ['serialize', 'serialize'],
  ['serialise', 'serialize'],
  ['serialization', 'serialize'],
  ['send', 'send'],
  ['flush', 'send'],
]);
