import { ARRIVALS_PARAMETERS, writeArrivals } from './arrivals.ts';
import { type Column, writeColumn } from './columns.ts';
import type { Change } from './flush.ts';
import type { Messages } from './messages.ts';
import type { Statements } from './statements.ts';

type StatementName = keyof Statements['prepared'];

const UUID_OID = 2950;

/** Adds a prepared statement and its parameters. */
export function addStatement(
  out: Messages,
  name: StatementName,
  parameters = 0,
  writeParameters: () => void = () => {},
): void {
  out.bind(name, parameters);
  writeParameters();
  out.execute();
}

export function writeKeys(out: Messages, keys: readonly string[]): void {
  out.beginArray(UUID_OID);
  for (const key of keys) out.hex(key);
  out.endArray(keys.length, false);
}

/** @throws UnstorableValueError */
export function writeRows(
  out: Messages,
  name: StatementName,
  columns: readonly Column[],
  changes: readonly Change[],
): void {
  const rows = changes.map((change) => change.after);
  addStatement(out, name, columns.length, () => {
    for (const column of columns) writeColumn(out, column, rows);
  });
}

/** The long lists of those rows whose newest beacon brought any. @throws UnstorableValueError */
export function writeLists(out: Messages, name: 'arrivals' | 'arrivalsAgain', changes: readonly Change[]): void {
  const rows = changes
    .map((change) => change.after)
    .filter((row) => row.arrivals_ms !== null || row.chunk_tokens !== null);
  if (rows.length > 0) addStatement(out, name, ARRIVALS_PARAMETERS, () => writeArrivals(out, rows));
}
