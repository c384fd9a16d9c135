import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BEACON_SCHEMA, BEACON_VERSION } from '../contract/beacon.ts';
import { MAX_ARRIVALS } from '../contract/limits.ts';
import type { TokenFacts } from '../contract/tokens.ts';
import { gapStats } from './gapStats.ts';
import { buildBeacon } from './payload.ts';
import { type Ending, openRecord } from './streamRecord.ts';

const isBeacon = new Ajv({ allowUnionTypes: true }).compile(BEACON_SCHEMA);
const PAGE = { seq: 1, suspended: false, hidden: false, render: undefined };

const onTheWire = (beacon: unknown) => JSON.parse(JSON.stringify(beacon));

describe('a beacon', () => {
  const facts = fc.record<Partial<TokenFacts>>(
    {
      token: fc.boolean(),
      visible: fc.boolean(),
      reasoning: fc.boolean(),
      terminator: fc.boolean(),
      error: fc.boolean(),
      tokenCount: fc.oneof(fc.nat(40), fc.double()),
      usage: fc.record({ outputTokens: fc.nat(1000), reasoningTokens: fc.nat(1000) }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  const events = fc.array(fc.tuple(fc.double({ min: 0, max: 5000, noNaN: true }), facts), { maxLength: 60 });
  const ending = fc.constantFrom<Ending | undefined>('end', 'abort', 'break', 'error', undefined);

  test('is one that the contract takes, whatever was seen', () => {
    fc.assert(
      fc.property(events, ending, fc.option(fc.string()), (seen, how, timingTrace) => {
        const startedAt = performance.now();
        const record = openRecord('ab'.repeat(16), startedAt, {});
        record.timingTrace = timingTrace;
        let at = startedAt;
        for (const [gap, fact] of seen) {
          at += gap;
          record.note(fact, at);
        }
        if (how) record.end(how);
        const beacon = onTheWire(buildBeacon(record, PAGE));
        expect(isBeacon(beacon), JSON.stringify(isBeacon.errors)).toBe(true);
        const arrivals: number[] = beacon.arrivals_ms;
        expect(arrivals).toEqual([...arrivals].sort((one, other) => one - other));
        expect(beacon.ttft_ms).toBe(arrivals[0]);
        if (beacon.chunk_tokens) expect(beacon.chunk_tokens).toHaveLength(arrivals.length);
        expect(beacon.status === 'streaming').toBe(how === undefined);
      }),
    );
  });

  test('has the version of the contract, and a small clock reading', () => {
    const beacon = buildBeacon(openRecord('x', performance.now(), {}), PAGE);
    expect(beacon.v).toBe(BEACON_VERSION);
    expect(beacon.since_start_ms).toBeLessThan(1000);
  });

  test.each([
    ['1,2,3,4,5,6,7', true],
    ['1,2,3,0,0,0,0', true],
    ['0,0,0,0,0,0,0', false],
    ['1,2,3, 4,5,6,7', false],
    ['1,2,3,4,5,6', false],
    ['1,2,3,4,5,6,7, 11,12,13,14,15,16,17', false],
    [undefined, false],
  ])('echoes %s: %s', (timingTrace, echoed) => {
    const record = openRecord('x', performance.now(), {});
    record.timingTrace = timingTrace;
    expect(buildBeacon(record, PAGE).timing_trace).toBe(echoed ? timingTrace : undefined);
  });

  test('of a long stream tells of its gaps instead of listing its arrivals', () => {
    const record = openRecord('x', 1000, {});
    for (let event = 0; event <= MAX_ARRIVALS; event++) record.note({ token: true }, 1500 + event * 10);
    record.end('end');
    const beacon = onTheWire(buildBeacon(record, PAGE));
    expect(isBeacon(beacon), JSON.stringify(isBeacon.errors)).toBe(true);
    expect(beacon).not.toHaveProperty('arrivals_ms');
    expect(beacon).toMatchObject({ ttft_ms: 500, output_tokens: MAX_ARRIVALS + 1 });
    expect(beacon.gap_stats).toEqual({
      count: MAX_ARRIVALS,
      mean_ms: 10,
      stddev_ms: 0,
      max_ms: 10,
      first20_mean_ms: 10,
      window10_stddev_max_ms: 0,
      first_screen_ms: 990,
      last_token_ms: 500 + MAX_ARRIVALS * 10,
      first_tokens: null,
    });
  });
});

test('gap statistics are those of their definitions', () => {
  const offsets = [100, 200, 250, 450, 460, 470, 480, 490, 500, 900, 910, 920];
  const deviation = (values: readonly number[]): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  };
  const gaps = offsets.slice(1).map((at, before) => at - offsets[before]!);
  const tokens = [3, ...Array<number>(11).fill(5)];
  const stats = gapStats(offsets, tokens);
  expect(stats).toMatchObject({
    count: 11,
    max_ms: 400,
    first20_mean_ms: (460 - 100) / 20,
    first_screen_ms: 910,
    last_token_ms: 920,
    first_tokens: 3,
  });
  expect(stats.mean_ms).toBeCloseTo(820 / 11);
  expect(stats.stddev_ms).toBeCloseTo(deviation(gaps));
  expect(stats.window10_stddev_max_ms).toBeCloseTo(Math.max(deviation(gaps.slice(0, 10)), deviation(gaps.slice(1))));
  // All at once took no time that was seen.
  expect(gapStats([100, 200], [60, 1])).toMatchObject({ first20_mean_ms: null, first_screen_ms: 100 });
});
