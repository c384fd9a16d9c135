import type { Field, Frame } from './frame.ts';

/** What the `pg` driver answers, as far as it is read here. */
export interface SqlAnswer {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** Type codes of PostgreSQL, as in its catalogue pg_type; everything else is text to Grafana. */
const NUMBERS = [20, 21, 23, 700, 701, 1700];
const TIMES = [1082, 1114, 1184];
const BOOLEAN = 16;

/** A table's frame. Without rows Grafana gets a frame without fields, so the panel must do without names as well. */
export function tableFrame(refId: string, { fields, rows }: SqlAnswer): Frame {
  if (rows.length === 0) return { refId, fields: [] };
  return { refId, fields: fields.map(({ name, dataTypeID }) => field(name, dataTypeID, rows)) };
}

function field(name: string, code: number, rows: SqlAnswer['rows']): Field {
  const values = rows.map((row) => row[name]);
  if (TIMES.includes(code)) return { name, type: 'time', values };
  if (code === BOOLEAN) return { name, type: 'boolean', values };
  if (!NUMBERS.includes(code)) return { name, type: 'string', values };
  // The driver gives 64-bit numbers as text, Grafana as numbers.
  return { name, type: 'number', values: values.map((value) => (value === null ? null : Number(value))) };
}
