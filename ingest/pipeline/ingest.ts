import type { EventKind } from '../../contract/metrics.ts';
import type { Rejection, Result } from '../../contract/rejections.ts';
import type { RejectedEvent } from '../../contract/request.ts';
import type { Admission } from '../http/admission.ts';
import type { Metrics } from '../registry.ts';
import { type Store, StoreUnavailableError } from '../store/store.ts';
import type { ParsedEvent } from './body.ts';
import type { Half } from './half.ts';
import type { Labels } from './labels.ts';
import type { Outcome } from './outcome.ts';

export interface IngestDeps {
  readonly store: Store;
  readonly labels: Labels;
  readonly metrics: Metrics;
  readonly admission: Admission;
}

/** How long events of one post are checked before others get their turn: a full body of them takes longer than anybody should wait. */
const STRETCH_MS = 20;
const othersTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * The way of the events of one post:
 *
 *   parse (body.ts) → validate (validate.ts) → screen labels (labels.ts) → join and store (join.ts, store/) → measure (measure.ts)
 *
 * The store has committed (or has it safe on disk) before this returns; measuring happens on the commit, sees only the rows, and cannot change the answer.
 */
export async function ingest(
  deps: IngestDeps,
  kind: EventKind,
  events: readonly ParsedEvent[],
  validate: (value: unknown) => Result<Half>,
): Promise<Outcome> {
  const rejected: RejectedEvent[] = [];
  const halves: Half[] = [];
  const indexes: number[] = [];
  const refuse = (index: number, { code, message }: Rejection): void => {
    rejected.push({ index, code, message });
    deps.metrics.rejected.inc([kind, code]);
  };

  let beganMs = performance.now();
  for (const [index, event] of events.entries()) {
    if (performance.now() - beganMs > STRETCH_MS) {
      await othersTurn();
      beganMs = performance.now();
    }
    const validated = 'rejection' in event ? { ok: false as const, rejection: event.rejection } : validate(event.value);
    if (validated.ok) {
      halves.push(validated.value);
      indexes.push(index);
    } else refuse(index, validated.rejection);
  }

  let accepted = 0;
  if (halves.length > 0) {
    try {
      const screened = await screen(deps.labels, halves);
      const results = await (screened === null ? deps.store.keep(halves) : deps.store.write(screened));
      for (const [position, result] of results.entries()) {
        if (result.durable) accepted++;
        else refuse(indexes[position]!, result.rejection);
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      const { overloaded } = error;
      deps.metrics.rejected.inc([kind, overloaded ? 'overloaded' : 'store_unavailable'], halves.length);
      return { kind: 'unavailable', overloaded };
    }
    if (accepted > 0) deps.metrics.events.inc([kind], accepted);
    rejected.sort((one, other) => one.index - other.index);
  }
  return { kind: 'done', accepted, rejected };
}

/** Null: a new word could not be asked for, since the database is away. */
async function screen(labels: Labels, halves: readonly Half[]): Promise<Half[] | null> {
  try {
    return await labels.screen(halves);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null;
    throw error;
  }
}
