/** A table as Grafana's panels get it: one list of values per field. */
export interface Frame {
  readonly refId: string;
  readonly fields: readonly Field[];
}

export interface Field {
  readonly name: string;
  readonly type: 'time' | 'number' | 'string' | 'boolean';
  /** Of a series of Prometheus. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly values: readonly unknown[];
}

/** The frame's rows as objects, for tests to read. */
export function rowsOf(frame: Frame): Record<string, unknown>[] {
  const length = Math.max(0, ...frame.fields.map((field) => field.values.length));
  return Array.from({ length }, (_, row) =>
    Object.fromEntries(frame.fields.map(({ name, values }) => [name, values[row]])),
  );
}

/** Rows of which at least one value is there. */
export function knownRowsOf(frame: Frame): Record<string, unknown>[] {
  return rowsOf(frame).filter((row) => Object.values(row).some((value) => value !== null));
}
