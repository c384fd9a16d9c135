import { describe, expect, test } from 'vitest';
import type { Rejection } from '../../contract/rejections.ts';
import { Admission } from '../http/admission.ts';
import { parseStrictly } from '../metrics/strictParser.ts';
import { createMetrics } from '../registry.ts';
import { type Store, StoreUnavailableError, type WriteResult } from '../store/store.ts';
import { parseBody } from './body.ts';
import { EXAMPLE_RECEIVED_MS, EXAMPLE_TRACE } from './exampleHalves.ts';
import type { Half } from './half.ts';
import { type IngestDeps, ingest } from './ingest.ts';
import { Labels } from './labels.ts';
import { NO_SOURCES } from './traceKey.ts';
import { validateServerRecord } from './validate.ts';

/** The way of a body, with a store that answers as told and shows what it was given. */
async function post(
  lines: readonly string[],
  write: (halves: readonly Half[]) => Promise<WriteResult[]>,
  away = false,
) {
  // The way of an event only writes.
  const keep = () => Promise.reject(new StoreUnavailableError('away'));
  const store = { write, keep } as unknown as Store;
  const metrics = createMetrics();
  const labels = new Labels({
    known: { model: [], route: [], variant: [], tier: [], backend: [], region: [] },
    regionHeader: null,
    acceptValues: async (values) => {
      if (away) throw new StoreUnavailableError('away');
      return values;
    },
  });
  const deps: IngestDeps = { store, labels, metrics, admission: new Admission(1) };
  const parsed = parseBody(Buffer.from(lines.join('\n')));
  if (!parsed.ok) throw new Error(parsed.rejection.message);
  const surroundings = { receivedAtMs: EXAMPLE_RECEIVED_MS, traceIds: NO_SOURCES, region: null, carrier: null };
  const outcome = await ingest(deps, 'server_timing', parsed.value, (value) =>
    validateServerRecord(value, surroundings),
  );
  const families = parseStrictly(await metrics.render('text'), 'text');
  const counted = (name: string) =>
    families
      .get(`firsttoken_ingest_${name}_total`)!
      .samples.map(({ labels: { kind, reason = '' }, value }) => `${kind} ${reason} ${value}`);
  return { outcome, events: counted('events'), rejected: counted('rejected') };
}

const good = (id: string) => JSON.stringify({ trace_id: id, timing_trace: EXAMPLE_TRACE, model: 'llama' });
const FALLING = JSON.stringify({ trace_id: 'x', timing_trace: '7,6,5,4,3,2,1' });
const durable = async (halves: readonly Half[]): Promise<WriteResult[]> => halves.map(() => ({ durable: true }));

describe('one post', () => {
  test('bad events stand out with their index, the others are stored', async () => {
    const stored: (string | null)[] = [];
    const { outcome, events, rejected } = await post([good('a'), '{', '', FALLING, good('b')], (halves) => {
      stored.push(...halves.map(({ ref }) => ref));
      return durable(halves);
    });
    expect(stored).toEqual(['a', 'b']);
    expect(outcome).toMatchObject({
      kind: 'done',
      accepted: 2,
      rejected: [
        { index: 1, code: 'malformed_json' },
        { index: 2, code: 'not_monotonic' },
      ],
    });
    expect(events).toEqual(['server_timing  2']);
    expect(rejected).toEqual(['server_timing malformed_json 1', 'server_timing not_monotonic 1']);
  });

  test('what the store refuses stands at its own index, in order with the others', async () => {
    const rejection: Rejection = { code: 'unstorable', message: 'The schema refuses it.' };
    const { outcome } = await post([FALLING, good('a'), good('b'), FALLING, good('c')], async (halves) =>
      halves.map(({ ref }) => (ref === 'b' ? { durable: false, rejection } : { durable: true })),
    );
    expect(outcome).toMatchObject({
      accepted: 2,
      rejected: [
        { index: 0, code: 'not_monotonic' },
        { index: 2, code: 'unstorable' },
        { index: 3, code: 'not_monotonic' },
      ],
    });
  });

  test('only bad events: the store is not asked', async () => {
    const { outcome, events } = await post([FALLING, FALLING], () => Promise.reject(new Error('asked')));
    expect(outcome).toMatchObject({ kind: 'done', accepted: 0, rejected: [{ index: 0 }, { index: 1 }] });
    expect(events).toEqual([]);
  });

  test('a store that is away: nothing is promised', async () => {
    const { outcome, events, rejected } = await post([good('a'), good('b')], () =>
      Promise.reject(new StoreUnavailableError('away')),
    );
    expect(outcome).toEqual({ kind: 'unavailable', overloaded: false });
    expect(events).toEqual([]);
    expect(rejected).toEqual(['server_timing store_unavailable 2']);
  });

  test('a dictionary of labels that is away: the same', async () => {
    const { outcome } = await post([good('a')], durable, true);
    expect(outcome).toEqual({ kind: 'unavailable', overloaded: false });
  });

  test('a fault of our own is not called an outage', async () => {
    await expect(post([good('a')], () => Promise.reject(new TypeError('bug')))).rejects.toThrow('bug');
  });
});
