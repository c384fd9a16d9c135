/** What the wire formats allow. Enforced by the validators, and again by CHECK constraints in the schema. */

/** Bytes of one request body, counted after inflating. */
export const MAX_BODY_BYTES = 1_048_576;
/** Events (JSON values or NDJSON lines) of one request body. */
export const MAX_EVENTS = 5_000;
/** Entries of `arrivals_ms`; a longer stream sends `gap_stats` instead. */
export const MAX_ARRIVALS = 4_096;
/** One day: no offset, lag or duration of a beacon is longer. */
export const MAX_OFFSET_MS = 86_400_000;
/** One hour: a longer stage means that two clocks were mixed. */
export const MAX_STAGE_NS = 3_600_000_000_000;
/** Named pieces of work inside the server that are kept with a request. */
export const MAX_SUB_STAGES = 16;
/** Characters of a sub-stage's name. */
export const MAX_SUB_STAGE_NAME = 64;
/** Characters of a trace id in any spelling. */
export const MAX_TRACE_ID_LENGTH = 128;
/** Characters of a descriptive text such as `model` or `route`. */
export const MAX_TEXT_LENGTH = 128;
/** Characters of a `Server-Timing` value. */
export const MAX_SERVER_TIMING_LENGTH = 8_192;
/** Tokens that one request can have read or written. */
export const MAX_TOKENS = 100_000_000;
/** A server's `started_at` may lie this far before its arrival … */
export const MAX_STARTED_BEFORE_MS = 86_400_000;
/** … or this far after it (clocks of two machines differ a little). */
export const MAX_STARTED_AFTER_MS = 300_000;
/** Exemplar labels and values together, as OpenMetrics demands. */
export const MAX_EXEMPLAR_CHARACTERS = 128;
/** Distinct values of one metric label before further ones become `other`. */
export const MAX_LABEL_VALUES = 50;
/** Label sets of one metric before further ones are folded into `other`. */
export const MAX_LABEL_SETS = 2_000;
