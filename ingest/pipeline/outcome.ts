import type { RejectedEvent } from '../../contract/request.ts';

/** What became of the events of one post. */
export type Outcome =
  /** `accepted` events are durable; each of the others has its reason. */
  | { readonly kind: 'done'; readonly accepted: number; readonly rejected: readonly RejectedEvent[] }
  /** The store could not make them durable: nothing is promised, sending all again is right. */
  | { readonly kind: 'unavailable'; readonly overloaded: boolean };
