import { DatabaseError } from 'pg';
import { UnstorableValueError } from './messages.ts';

/** What to do about a failed statement. */
export type Failure =
  /** The connection is gone or the server is going: reconnect and try again. */
  | 'connection'
  /** Two transactions got in each other's way: try again. */
  | 'conflict'
  /** No partition for today: make it and try again. */
  | 'partition'
  /** A value that the schema refuses: find the row, refuse it alone. */
  | 'row'
  /** Anything else: disk full, time-out, a bug. */
  | 'other';

const UNIQUE_OR_CHECK = '23';
const UNIQUE = '23505';
const BAD_DATA = '22';
const CONNECTION = '08';
const NO_PARTITION = '23514';
const CONFLICTS = new Set(['40P01', '40001', '55P03']);
/** admin_shutdown, crash_shutdown, cannot_connect_now, idle_in_transaction_session_timeout, and a standby where a primary should be. */
const GOING = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25006']);

/** Whether a key was made by another transaction since it was looked for. */
export function isTaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE;
}

/** Sorts an error of the driver by its SQLSTATE; what has none came from the connection. */
export function classify(error: unknown): Failure {
  if (error instanceof UnstorableValueError) return 'row';
  const code = error instanceof DatabaseError ? error.code : undefined;
  if (code === undefined) return 'connection';
  if (GOING.has(code) || code.startsWith(CONNECTION)) return 'connection';
  if (CONFLICTS.has(code)) return 'conflict';
  // A row that no partition takes and a row that a CHECK refuses share a code; only the latter names its constraint.
  if (code === NO_PARTITION && (error as DatabaseError).constraint === undefined) return 'partition';
  if (code.startsWith(BAD_DATA) || code.startsWith(UNIQUE_OR_CHECK)) return 'row';
  return 'other';
}
