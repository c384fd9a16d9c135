/** What can go wrong without the app being told otherwise. */
export type WarningKind =
  | 'ingest_unreachable'
  | 'ingest_refused'
  | 'queue_full'
  | 'option_failed'
  | 'field_ignored'
  | 'internal';

const given = new Set<WarningKind>();

/** Says it once per kind and process through `process.emitWarning`: a broken ingest must not fill the app's logs. */
export function warnOnce(kind: WarningKind, message: string): void {
  if (given.has(kind)) return;
  given.add(kind);
  process.emitWarning(message, { type: 'FirsttokenWarning', code: `FIRSTTOKEN_${kind.toUpperCase()}` });
}

/** Runs our own work inside the app's call: whatever it throws ends here. */
export function guarded<T>(kind: WarningKind, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    warnOfError(kind, error);
    return undefined;
  }
}

export function warnOfError(kind: WarningKind, error: unknown): void {
  warnOnce(kind, `firsttoken: ${error instanceof Error ? error.message : String(error)}`);
}
