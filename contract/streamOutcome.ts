import type { StreamStatus } from './beacon.ts';

/** What was seen of a stream up to its end. */
export interface StreamFacts {
  readonly tokenSeen: boolean;
  /** For raw text: whether the stream ended cleanly. */
  readonly terminatorSeen: boolean;
  readonly errorSeen: boolean;
  /** The user or the page ended it. */
  readonly aborted: boolean;
}

/**
 * How a stream ended. The end of the connection is no sign of success: without a terminator the stream was cut. An error stays an
 * error though an end marker follows, and who leaves after the end marker has aborted nothing.
 */
export function streamOutcome({ tokenSeen, terminatorSeen, errorSeen, aborted }: StreamFacts): StreamStatus {
  if (errorSeen) return 'error';
  if (terminatorSeen) return tokenSeen ? 'complete' : 'no_output';
  return aborted ? 'aborted' : 'truncated';
}
