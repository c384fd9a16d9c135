import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import { SERVER_STAGES } from '../../contract/stages.ts';
import { attribute } from '../pipeline/attribute.ts';
import { newRow, type RequestRow } from '../pipeline/row.ts';
import { countStages, placeStages } from './placeStages.ts';

function rowOf(fields: Partial<RequestRow>): RequestRow {
  const row = { ...newRow({ traceId: 'a'.repeat(32), startedAtMs: 1_785_491_532_400 }), ...fields };
  attribute(row);
  return row;
}
const namesOf = (row: RequestRow) => placeStages(row).stages.map(({ stage }) => stage);

describe('which stages', () => {
  test('only those that are known, in their order, unattributed last', () => {
    const row = rowOf({
      ttft_ms: 100,
      end_ms: 500,
      server_ttft_ns: 60e6,
      gateway_ns: 1e6,
      receive_ns: 2e6,
      queue_ns: 10e6,
      first_token_ns: 40e6,
      render_ns: 16e6,
    });
    expect(placeStages(row)).toEqual({
      rootLengthNs: 500e6,
      rootClamped: false,
      stages: [
        { stage: 'gateway', offsetNs: 0, lengthNs: 1e6, clamped: false },
        { stage: 'receive', offsetNs: 1e6, lengthNs: 2e6, clamped: false },
        { stage: 'queue', offsetNs: 3e6, lengthNs: 10e6, clamped: false },
        { stage: 'first_token', offsetNs: 13e6, lengthNs: 40e6, clamped: false },
        { stage: 'network', offsetNs: 53e6, lengthNs: 37e6, clamped: false },
        { stage: 'render', offsetNs: 90e6, lengthNs: 16e6, clamped: false },
        { stage: 'unattributed', offsetNs: 106e6, lengthNs: 10e6, clamped: false },
      ],
    });
  });

  test('a stage of no length is one, an unknown one is none', () => {
    expect(namesOf(rowOf({ server_ttft_ns: 5, kv_load_ns: 0, send_ns: 5 }))).toEqual([
      'kv_load',
      'send',
      'unattributed',
    ]);
  });

  test('a client alone: its whole TTFT is unattributed', () => {
    expect(namesOf(rowOf({ ttft_ms: 100, end_ms: 300 }))).toEqual(['unattributed']);
  });

  test('only what an earlier state lacked is counted as new', () => {
    const server = rowOf({ server_ttft_ns: 60e6, queue_ns: 10e6 });
    const joined = rowOf({ server_ttft_ns: 60e6, queue_ns: 10e6, ttft_ms: 100, render_ns: 1 });
    expect([countStages(server), countStages(joined), countStages(joined, server)]).toEqual([2, 4, 2]);
  });
});

describe('how long the root is', () => {
  test.each([
    ['the stream', { ttft_ms: 100, end_ms: 500 }, 500e6],
    ['to the first token, where no end is known', { ttft_ms: 100 }, 100e6],
    ['the gateway, where no client spoke', { gateway_request_ms: 700, server_ttft_ns: 60e6 }, 700e6],
    ['the server, alone', { server_ttft_ns: 60e6, receive_ns: 2e6 }, 62e6],
    ['nothing, where nothing is known', {}, 0],
  ])('%s', (_what, fields, lengthNs) => {
    expect(placeStages(rowOf(fields))).toMatchObject({ rootLengthNs: lengthNs, rootClamped: false });
  });
});

describe('what contradicts itself has no length and is marked', () => {
  test('an end before the start', () => {
    expect(placeStages(rowOf({ end_ms: -1.5 }))).toMatchObject({ rootLengthNs: 0, rootClamped: true });
  });
  test('an end before the first token', () => {
    expect(placeStages(rowOf({ ttft_ms: 100, end_ms: 99 }))).toMatchObject({ rootLengthNs: 100e6, rootClamped: true });
  });
  test('a client that was sooner than its server', () => {
    const row = rowOf({ ttft_ms: 10, end_ms: 500, server_ttft_ns: 20e6, first_token_ns: 20e6 });
    expect(row.flags & FLAG_BITS.clock_anomaly).not.toBe(0);
    expect(placeStages(row).stages).toEqual([
      { stage: 'first_token', offsetNs: 0, lengthNs: 20e6, clamped: false },
      { stage: 'network', offsetNs: 20e6, lengthNs: 0, clamped: true },
      { stage: 'unattributed', offsetNs: 20e6, lengthNs: 0, clamped: false },
    ]);
  });
  test('a part below zero', () => {
    const row = { ...rowOf({}), queue_ns: -5, send_ns: 7 };
    expect(placeStages(row).stages).toEqual([
      { stage: 'queue', offsetNs: 0, lengthNs: 0, clamped: true },
      { stage: 'send', offsetNs: 0, lengthNs: 7, clamped: false },
    ]);
  });
});

const durationNs = fc.option(fc.integer({ min: 0, max: 3_600_000_000_000 }), { nil: null });
const ms = fc.option(fc.double({ min: 0, max: 86_400_000, noNaN: true }), { nil: null });

test('whatever is known: contiguous from the start, and in sum the client TTFT plus the paint', () => {
  fc.assert(
    fc.property(
      fc.record({
        stages: fc.tuple(...SERVER_STAGES.map(() => durationNs)),
        beyondNs: fc.integer({ min: 0, max: 3_600_000_000_000 }),
        hasServerTtft: fc.boolean(),
        gateway_ns: durationNs,
        render_ns: durationNs,
        ttft_ms: ms,
        lengthMs: ms,
      }),
      ({ stages, beyondNs, hasServerTtft, lengthMs, ...fields }) => {
        const known = Object.fromEntries(SERVER_STAGES.map((stage, index) => [`${stage}_ns`, stages[index]!]));
        const coveredNs = stages.slice(1).reduce<number>((sum, each) => sum + (each ?? 0), 0);
        const row = rowOf({
          ...known,
          ...fields,
          server_ttft_ns: hasServerTtft ? coveredNs + beyondNs : null,
          end_ms: lengthMs === null ? null : (fields.ttft_ms ?? 0) + lengthMs,
        });
        const placed = placeStages(row);
        let atNs = 0;
        for (const stage of placed.stages) {
          expect(stage.offsetNs).toBe(atNs);
          expect(stage.lengthNs).toBeGreaterThanOrEqual(0);
          atNs += stage.lengthNs;
        }
        expect(Number.isSafeInteger(atNs) && Number.isSafeInteger(placed.rootLengthNs)).toBe(true);
        expect(placed.rootClamped).toBe(false);
        if (row.ttft_ms === null) return;
        const clientTtftNs = Math.round(row.ttft_ms * 1e6);
        const beforeTokenNs = atNs - (row.render_ns ?? 0);
        const aroundNs = (row.receive_ns ?? 0) + (row.gateway_ns ?? 0);
        const accountNs = (row.server_ttft_ns ?? coveredNs) + aroundNs;
        // Where the server accounts for more than the client waited, its account stands as it is.
        expect(beforeTokenNs).toBe(Math.max(clientTtftNs, accountNs));
        if (accountNs <= clientTtftNs && row.end_ms !== null) {
          expect(beforeTokenNs).toBeLessThanOrEqual(placed.rootLengthNs);
        }
      },
    ),
  );
});
