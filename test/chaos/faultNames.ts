/** What goes wrong in a run; each is described where it is done. */
export const FAULT_NAMES = [
  'kill-ingest',
  'pause-ingest',
  'replica-leaves',
  'client-cut',
  'client-half-open',
  'clock-jump',
  'stop-postgres-fast',
  'stop-postgres-immediate',
  'kill-postgres',
  'terminate-backends',
  'pause-backend',
  'database-cut',
  'database-refused',
  'database-half-open',
  'lose-commit',
  'full-disk',
  'long-outage',
] as const;

export type FaultName = (typeof FAULT_NAMES)[number];

/** Faults of one track come one after the other; the two tracks run beside each other and overlap as it happens. */
export const REPLICA_TRACK: readonly FaultName[] = [
  'kill-ingest',
  'pause-ingest',
  'replica-leaves',
  'client-cut',
  'client-half-open',
  'clock-jump',
];

/** Once in a run that is long enough, and never in between: PostgreSQL stays away for a minute. */
export const LONG_OUTAGE_MS = 60_000;

export const DATABASE_TRACK: readonly FaultName[] = FAULT_NAMES.filter(
  (name) => !REPLICA_TRACK.includes(name) && name !== 'long-outage',
);
