import type { RequestRow } from '../pipeline/row.ts';
import type { LISTS } from './columns.ts';
import type { Messages } from './messages.ts';

const [SMALLINT, INTEGER, REAL, DATE, UUID] = [21, 23, 700, 1082, 2950];

/**
 * Parameters of the statements `arrivals`: keys, days, and each of the two lists as where each row's part of it begins and ends, and the
 * parts of all rows one behind the other. PostgreSQL cuts them apart again, which is far cheaper than lists within a list.
 *
 * @param rows have their day, and bring at least one of the lists
 */
export function writeArrivals(out: Messages, rows: readonly RequestRow[]): void {
  out.beginArray(UUID!);
  for (const row of rows) out.hex(row.trace_id);
  out.endArray(rows.length, false);
  out.beginArray(DATE!);
  for (const row of rows) out.date(row.day);
  out.endArray(rows.length, false);
  writeList(out, rows, 'arrivals_ms', REAL!, (value) => out.float4(value));
  writeList(out, rows, 'chunk_tokens', SMALLINT!, (value) => out.int2(value));
}

export const ARRIVALS_PARAMETERS = 8;

/** Expects `$3` to `$8` as {@link writeArrivals} gives them. */
export const ARRIVALS_SOURCE = `(SELECT unnest($1::uuid[]) AS trace_id, unnest($2::date[]) AS day,
  unnest($3::integer[]) AS arrivals_from, unnest($4::integer[]) AS arrivals_to,
  unnest($6::integer[]) AS chunks_from, unnest($7::integer[]) AS chunks_to) AS u`;
export const ARRIVALS_LISTS =
  '($5::real[])[u.arrivals_from:u.arrivals_to], ($8::smallint[])[u.chunks_from:u.chunks_to]';

function writeList(
  out: Messages,
  rows: readonly RequestRow[],
  name: (typeof LISTS)[number],
  elementOid: number,
  write: (value: number) => void,
): void {
  let total = 0;
  let nulls = 0;
  out.beginArray(INTEGER!);
  for (const row of rows) {
    const list = row[name];
    if (list === null) {
      out.null();
      nulls++;
    } else {
      out.int4(total + 1);
      total += list.length;
    }
  }
  out.endArray(rows.length, nulls > 0);
  let end = 0;
  out.beginArray(INTEGER!);
  for (const row of rows) {
    const list = row[name];
    if (list === null) out.null();
    else {
      end += list.length;
      out.int4(end);
    }
  }
  out.endArray(rows.length, nulls > 0);
  out.beginArray(elementOid);
  for (const row of rows) for (const value of row[name] ?? []) write(value);
  out.endArray(total, false);
}
