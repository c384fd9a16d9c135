import type { RequestRow } from '../pipeline/row.ts';
import { encodeReal, type LISTS } from './columns.ts';

/** Parameters of the statement `arrivals`: keys, days (null for a row of today), and the two lists, as array literals. */
export type ArrivalParameters = [keys: string, days: string, arrivals: string, chunks: string];

/**
 * The long lists of those rows whose newest beacon brought any.
 *
 * @returns null when there is nothing to write
 */
export function arrivalParameters(rows: readonly RequestRow[]): ArrivalParameters | null {
  const bearing = rows.filter((row) => row.arrivals_ms !== null || row.chunk_tokens !== null);
  if (bearing.length === 0) return null;
  const column = (encode: (row: RequestRow) => string | null): string =>
    `{${bearing.map((row) => encode(row) ?? 'NULL').join(',')}}`;
  const list = (name: (typeof LISTS)[number], encode: (value: number) => string) =>
    column((row) => row[name] && `"{${row[name].map(encode).join(',')}}"`);
  return [
    column((row) => row.trace_id),
    column((row) => row.day || null),
    list('arrivals_ms', encodeReal),
    list('chunk_tokens', String),
  ];
}
