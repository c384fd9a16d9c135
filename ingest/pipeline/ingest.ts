import type { EventKind } from '../../contract/metrics.ts';
import type { Rejection, Result } from '../../contract/rejections.ts';
import type { RejectedEvent } from '../../contract/request.ts';
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
}

/**
 * The way of the events of one post:
 *
 *   parse (body.ts) → validate (validate.ts) → screen labels (labels.ts) → join and store (join.ts, store/) → measure (measure.ts)
 *
 * The store commits before this returns; measuring happens on its commit, sees only the rows, and cannot change the answer.
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

  for (const [index, event] of events.entries()) {
    const validated = 'rejection' in event ? { ok: false as const, rejection: event.rejection } : validate(event.value);
    if (validated.ok) {
      halves.push(validated.value);
      indexes.push(index);
    } else refuse(index, validated.rejection);
  }

  let accepted = 0;
  if (halves.length > 0) {
    try {
      const results = await deps.store.write(await deps.labels.screen(halves));
      for (const [position, result] of results.entries()) {
        if (result.durable) accepted++;
        else refuse(indexes[position]!, result.rejection);
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      deps.metrics.rejected.inc([kind, 'store_unavailable'], halves.length);
      return { kind: 'unavailable' };
    }
    if (accepted > 0) deps.metrics.events.inc([kind], accepted);
    rejected.sort((one, other) => one.index - other.index);
  }
  return { kind: 'done', accepted, rejected };
}
