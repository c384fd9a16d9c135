import { FLAG_BITS } from './flags.ts';

/**
 * Requests of each closed hour that are kept apart, so that a panel over days reads hundreds of lines and not millions of requests. They
 * are picked once, when the hour is over and its late halves are in; what comes later still is in its row, and in no pick.
 */
export const REQUEST_PICKS = {
  /** By the client's TTFT; joined ones. */
  slowest: {
    perHour: 50,
    where: `ttft_ms IS NOT NULL AND status IS NOT NULL AND server_source IS NOT NULL AND flags & ${FLAG_BITS.suspended} = 0`,
    order: 'ttft_ms DESC, trace_id',
  },
  longest_gap: {
    perHour: 20,
    where: `gap_max_ms IS NOT NULL AND flags & ${FLAG_BITS.coalesced | FLAG_BITS.suspended} = 0`,
    order: 'gap_max_ms DESC, trace_id',
  },
  /** Any of them, as their ids fall: the same ones whoever picks. */
  sample: {
    perHour: 200,
    where: 'true',
    order: 'uuid_hash(trace_id), trace_id',
  },
} as const satisfies Record<string, { perHour: number; where: string; order: string }>;

/** Columns of a request that the sample keeps, so that panels answer from it alone; as they were when it was picked. */
export const SAMPLE_FACTS = [
  'connection',
  'status',
  'flags',
  'tpot_ms',
  'first_screen_ms',
  'quantization',
  'decoding',
  'temperature',
  'sub_stages_ns',
] as const;

export type RequestPick = keyof typeof REQUEST_PICKS;
export const REQUEST_PICK_NAMES = Object.keys(REQUEST_PICKS) as readonly RequestPick[];

/** Ranges up to this long read the requests themselves: all of them are candidates then, and they are few. */
export const PICKS_BEYOND_HOURS = 3;

/** An hour is picked from so long after its end, when all but the latest halves are in. */
export const PICK_AFTER_MINUTES = 10;
