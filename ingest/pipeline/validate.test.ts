import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { flagsOf } from '../../contract/flags.ts';
import { MAX_ARRIVALS } from '../../contract/limits.ts';
import { exampleClient } from './exampleHalves.ts';
import { NO_SOURCES } from './traceKey.ts';
import { type Surroundings, validateBeacon, validateServerRecord } from './validate.ts';

interface Fixtures<Payload extends string> {
  readonly received_at_ms: number;
  readonly valid: readonly ({ readonly name: string; readonly expected: Readonly<Record<string, unknown>> } & Readonly<
    Record<Payload, object>
  >)[];
  readonly invalid: readonly ({ readonly name: string; readonly code: string } & Readonly<Record<Payload, unknown>>)[];
}

function readFixtures<Payload extends string>(file: string): Fixtures<Payload> {
  return JSON.parse(readFileSync(new URL(`../../contract/fixtures/${file}`, import.meta.url), 'utf8'));
}

const beacons = readFixtures<'beacon'>('beacons.json');
const records = readFixtures<'record'>('server-records.json');

function surroundings(changes: Partial<Surroundings> = {}): Surroundings {
  return { receivedAtMs: beacons.received_at_ms, traceIds: NO_SOURCES, region: null, carrier: null, ...changes };
}

/** `ttftVisibleMs` and so on as the fixtures spell them, by the names of the wire; names that senders chose stay as well. */
function asSpelled(half: object): Record<string, unknown> {
  const spell = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { ...Object.fromEntries(Object.entries(half).map(([name, value]) => [spell(name), value])), ...half };
}

/** Compares only what `expected` names; numbers within rounding. */
function expectWithin(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected === 'number') expect(actual, path).toBeCloseTo(expected, 6);
  else if (typeof expected === 'object' && expected !== null && !Array.isArray(expected)) {
    const spelled = asSpelled(actual as object);
    for (const [name, value] of Object.entries(expected)) expectWithin(spelled[name], value, `${path}.${name}`);
  } else expect(actual, path).toEqual(expected);
}

describe('beacons', () => {
  test.each(beacons.valid)('$name', ({ beacon, expected }) => {
    const read = validateBeacon(beacon, surroundings());
    if (!read.ok) throw new Error(`${read.rejection.code}: ${read.rejection.message}`);
    expectWithin({ ...read.value, flags: flagsOf(read.value.flagBits) }, expected, '');
    expect(read.value.flagBits & ~read.value.flagMask).toBe(0);
  });

  test.each(beacons.invalid)('refused: $name', ({ beacon, code }) => {
    expect(validateBeacon(beacon, surroundings())).toMatchObject({ ok: false, rejection: { code } });
  });

  const minimal = { v: 1, trace_id: 'a'.repeat(32), status: 'complete' };

  test('as many arrivals as allowed, and one more', () => {
    const arrivals = (count: number) => ({
      ...minimal,
      arrivals_ms: Array.from({ length: count }, (_, event) => event),
    });
    expect(validateBeacon(arrivals(MAX_ARRIVALS), surroundings()).ok).toBe(true);
    expect(validateBeacon(arrivals(MAX_ARRIVALS + 1), surroundings())).toMatchObject({
      rejection: { code: 'invalid_field' },
    });
  });

  test('numbers beyond all bounds, as JSON can say them', () => {
    for (const json of ['1e999', '-1e999', '1e308'])
      expect(validateBeacon({ ...minimal, ttft_ms: JSON.parse(json) }, surroundings())).toMatchObject({
        rejection: { code: 'invalid_field' },
      });
  });

  test("the operator's headers come before what the page says, and are trusted", () => {
    const beacon = { ...minimal, region: 'mars', carrier: 'page' };
    const own = validateBeacon(beacon, surroundings());
    expect(own).toMatchObject({ value: { region: 'mars', regionTrusted: false, carrier: 'page' } });
    const operators = validateBeacon(beacon, surroundings({ region: 'DE', carrier: 'AS3320' }));
    expect(operators).toMatchObject({ value: { region: 'DE', regionTrusted: true, carrier: 'AS3320' } });
  });

  test('a header names the trace where the body does not', () => {
    const { trace_id: _, ...unnamed } = minimal;
    const named = surroundings({ traceIds: { ...NO_SOURCES, xTraceId: 'chatcmpl-abc123' } });
    const read = validateBeacon(unnamed, named);
    expect(read).toMatchObject({ value: { ref: 'chatcmpl-abc123', key: expect.stringMatching(/^[0-9a-f]{32}$/) } });
    expect(validateBeacon({ ...unnamed, trace_id: null }, named)).toEqual(read);
    expect(validateBeacon({ ...unnamed, trace_id: '-' }, named)).toMatchObject({
      rejection: { code: 'invalid_trace_id' },
    });
  });

  test('fields that objects inherit are not fields', () => {
    const inherited = Object.assign(Object.create({ v: 1, status: 'complete' }), { trace_id: minimal.trace_id });
    expect(validateBeacon(inherited, surroundings())).toMatchObject({ rejection: { code: 'missing_field' } });
    const polluted = JSON.parse(`{"__proto__":{"v":1,"status":"complete"},"trace_id":"${'a'.repeat(32)}"}`) as object;
    expect(validateBeacon(polluted, surroundings())).toMatchObject({ rejection: { code: 'missing_field' } });
  });
});

describe('server records', () => {
  test.each(records.valid)('$name', ({ record, expected }) => {
    const read = validateServerRecord(record, surroundings({ receivedAtMs: records.received_at_ms }));
    if (!read.ok) throw new Error(`${read.rejection.code}: ${read.rejection.message}`);
    expect(read.value.source).toBe('direct');
    expectWithin(read.value, expected, '');
    const { sub_stages_ns: subStages } = expected;
    if (subStages !== undefined) expect(read.value.subStagesNs).toEqual(subStages);
  });

  test.each(records.invalid)('refused: $name', ({ record, code }) => {
    const read = validateServerRecord(record, surroundings({ receivedAtMs: records.received_at_ms }));
    expect(read).toMatchObject({ ok: false, rejection: { code } });
  });
});

test('a refusal never repeats what was refused', () => {
  const secret = 'sk-very-secret';
  const wrong = [
    { v: 1, trace_id: `${secret}\n`, status: 'complete' },
    { v: 1, trace_id: 'a', status: secret },
    { v: 1, trace_id: 'a', status: 'complete', model: secret.repeat(20) },
    { v: 1, trace_id: 'a', status: 'complete', ttft_ms: secret },
    { v: 1, trace_id: 'a', status: 'complete', timing_trace: secret },
    { trace_id: 'a', timing_trace: '1,2,3,4,5,6,7', sub_stages: { [secret]: -1 } },
    { trace_id: 'a', timing_trace: '1,2,3,4,5,6,7', sub_stages: { [secret.repeat(9)]: 1 } },
    { trace_id: 'a', timing_trace: '1,2,3,4,5,6,7', parent_span_id: secret },
    { trace_id: 'a', timing_trace: '1,2,3,4,5,6,7', started_at: secret },
  ];
  for (const event of wrong) {
    for (const read of [validateBeacon(event, surroundings()), validateServerRecord(event, surroundings())])
      if (!read.ok) expect(read.rejection.message).not.toContain('secret');
  }
});

describe('output tokens', () => {
  test.each([
    [{ output_tokens: 9, output_tokens_source: 'usage', arrivals_ms: [1, 2], chunk_tokens: [1, 4] }, 9, 'usage'],
    [{ arrivals_ms: [1, 2], chunk_tokens: [1, 4] }, 5, 'chunks'],
    [{ arrivals_ms: [1, 2, 3] }, 3, 'events'],
    [{ ttft_ms: 1 }, null, null],
  ] as const)('of %j are %j, by %j', (fields, tokens, source) => {
    expect(exampleClient(fields)).toMatchObject({ outputTokens: tokens, outputTokensSource: source });
  });
});
